/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a view shows of each sample, as a path of names from the root to the leaf. */
#include "profile/tree_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/round.h"
#include "profile/calls.h"
#include "profile/faults.h"
#include "profile/kind.h"
#include "profile/waits.h"
#include "profile/waker.h"

#define MAX_HOPS 16 /* of wakers that are shown; a file may have any number */

/* The functions of a frame as steps: a range of builder.known. */
struct known {
	uint32_t first, nr; /* nr 0 = not looked at yet */
};

#define THREADS 256 /* names that are remembered, a power of two */

struct builder {
	const struct profile *p;
	const struct view *v;
	struct tree *t;
	struct waits waits;
	bool wakers;		   /* the profile is of wake-ups */
	bool operations;	   /* of those: their kind is shown */
	struct known *by_frame[2]; /* per frame id, as the thread's and as a waker's */
	struct step *known;
	size_t nr_known, cap_known;
	struct tree_filter filter;
	struct tree_paths *out;
	struct thread_name {
		uint32_t thread, tid; /* of the profile; tid 0 where views do not tell them apart */
		uint32_t name;	      /* 0 = not known yet */
	} threads[THREADS];	      /* the one seen last in each place */
};

static uint32_t add_name(struct builder *b, const char *s, int spaces, const char *suffix)
{
	char *whole = view_safe(s, spaces, suffix);
	uint32_t id = strings_add(&b->t->names, whole, strlen(whole));

	free(whole);
	return id;
}

static uint32_t add_function(struct builder *b, uint32_t frame, uint32_t i, bool waker)
{
	char *name = view_function(b->v, b->p, frame, i, waker);
	uint32_t id = strings_add(&b->t->names, name, strlen(name));

	free(name);
	return id;
}

/* The steps of a frame's functions, innermost first, made at first sight. */
static struct known steps_of(struct builder *b, uint32_t id, bool waker)
{
	const struct frame *f = profile_frame_at(b->p, id);
	struct known *k = &b->by_frame[waker][id];
	uint32_t first;

	if (k->nr)
		return *k;
	*k = (struct known){ b->nr_known, view_functions(b->v, b->p, id, &first) };
	for (uint32_t i = 0; i < k->nr; i++) {
		struct frame_function place = profile_frame_function(b->p, id, first + i);

		b->known = xgrow(b->known, b->nr_known, &b->cap_known, sizeof(*b->known));
		b->known[b->nr_known++] =
			(struct step){ .name = add_function(b, id, first + i, waker),
				       .module = profile_frame_module(b->p, id),
				       .kind = f->kind,
				       .waker = waker,
				       .file = place.file,
				       .line = place.line };
	}
	return *k;
}

static void push_of(struct builder *b, const struct step *s, uint32_t frame)
{
	struct tree_paths *out = b->out;

	out->steps = xgrow(out->steps, out->nr_steps, &out->cap_steps, sizeof(*s));
	out->steps[out->nr_steps] = *s;
	if (out->with_frames) {
		out->frames =
			xgrow(out->frames, out->nr_steps, &out->cap_frames, sizeof(*out->frames));
		out->frames[out->nr_steps] = frame;
	}
	out->nr_steps++;
}

static void push(struct builder *b, const struct step *s)
{
	push_of(b, s, 0);
}

static void push_note(struct builder *b, const char *text)
{
	push(b, &(struct step){ .name = add_name(b, text, 0, "") });
}

/* "[lock]" and the like. */
static void push_bracketed(struct builder *b, const char *text)
{
	char *note = xasprintf("[%s]", text);

	push_note(b, note);
	free(note);
}

/* A file may say anything: a path that is long already gets each frame's own function only. */
static struct known frame_steps(struct builder *b, uint32_t id, bool waker)
{
	struct known k = steps_of(b, id, waker);
	bool all = b->out->nr_steps - b->out->paths[b->out->nr_paths - 1].first < PROF_MAX_FRAMES;

	return all ? k : (struct known){ k.first + k.nr - 1, 1 };
}

/* Root first, without the first frames at the leaf. */
static void push_stack(struct builder *b, uint32_t id, uint32_t first)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(b->p, id, &nr);

	for (uint32_t i = nr; i > first; i--) {
		struct known k = frame_steps(b, frames[i - 1], false);

		for (uint32_t f = k.nr; f > 0; f--)
			push_of(b, &b->known[k.first + f - 1],
				f == k.nr ? frames[i - 1] : STEP_SAME_FRAME);
	}
}

/* Frames [first, end), leaf first: a waker meets the thread that it woke. */
static void push_upwards(struct builder *b, uint32_t id, uint32_t first, uint32_t end)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(b->p, id, &nr);

	for (uint32_t i = first; i < end && i < nr; i++) {
		struct known k = frame_steps(b, frames[i], true);

		for (uint32_t f = 0; f < k.nr; f++)
			push_of(b, &b->known[k.first + f], f ? STEP_SAME_FRAME : frames[i]);
	}
}

static uint32_t thread_name(struct builder *b, uint32_t thread, uint32_t tid)
{
	char *name = xstrdup(profile_str(b->p, thread)), suffix[16] = "";
	size_t len = strlen(name);
	uint32_t id;

	while (b->v->merge_threads && len > 1 && name[len - 1] >= '0' && name[len - 1] <= '9')
		name[--len] = '\0';
	if (b->v->per_thread)
		snprintf(suffix, sizeof(suffix), "/%u", tid);
	id = add_name(b, name, 1, suffix);
	free(name);
	return id;
}

/* Samples are many, threads few. */
static void push_thread(struct builder *b, uint32_t thread, uint32_t tid, bool waker)
{
	const uint32_t told = b->v->per_thread ? tid : 0;
	struct thread_name *known = &b->threads[(thread + told) % THREADS];

	if (!known->name || known->thread != thread || known->tid != told)
		*known = (struct thread_name){ thread, told, thread_name(b, thread, tid) };
	push(b, &(struct step){ .name = known->name, .waker = waker });
}

/* The thread that a sample is of, or its process. */
static void push_owner(struct builder *b, const struct sample *s)
{
	char suffix[16];

	if (b->v->by != VIEW_BY_PROCESS) {
		push_thread(b, s->thread, s->tid, false);
		return;
	}
	snprintf(suffix, sizeof(suffix), "/%u", s->pid);
	push(b, &(struct step){ .name = add_name(b, profile_str(b->p, s->process), 1, suffix) });
}

/* In the tree's unit weights count, or samples. */
static void begin_path(struct builder *b, uint32_t sample, uint64_t samples, uint64_t weight)
{
	bool by_weight = b->p->meta.by_weight || b->p->meta.is_time;

	b->out->paths =
		xgrow(b->out->paths, b->out->nr_paths, &b->out->cap_paths, sizeof(*b->out->paths));
	b->out->paths[b->out->nr_paths++] = (struct path){ .first = b->out->nr_steps,
							   .count = by_weight ? weight : samples,
							   .samples = samples,
							   .weight = weight,
							   .sample = sample };
}

static void end_path(struct builder *b)
{
	struct path *last = &b->out->paths[b->out->nr_paths - 1];

	last->nr = b->out->nr_steps - last->first;
	if (tree_filter_keeps(&b->filter, b->t, b->out->steps + last->first, last->nr))
		return;
	b->t->left_out += last->count;
	b->out->nr_steps = last->first;
	b->out->nr_paths--;
}

/* Its stack was taken where the scheduler left the thread, not where an interrupt met it. */
static bool is_switched(const struct sample *s)
{
	uint32_t kind = PROF_WAIT_KIND(s->wait);

	return kind == PROF_BLOCKED || kind == PROF_PREEMPTED || kind == PROF_WOKEN ||
	       kind == PROF_THROTTLED;
}

static void push_stacks(struct builder *b, const struct sample *s)
{
	bool user = s->ustack && !b->v->kernel_only, kernel = s->kstack && !b->v->user_only;

	if (user)
		push_stack(b, s->ustack, 0);
	if (user && kernel && b->v->delimiter)
		push_note(b, "-");
	if (kernel)
		push_stack(b, s->kstack,
			   b->operations || is_switched(s) ? wait_plumbing(b->p, s->kstack) : 0);
}

static void push_waker(struct builder *b, const struct waker *w, const struct waker_frames *f)
{
	bool user = w->ustack && !b->v->kernel_only && !f->irq;
	bool kernel = w->kstack && !b->v->user_only;

	if (f->note)
		push_note(b, f->note);
	if (kernel)
		push_upwards(b, w->kstack, f->first, f->end);
	if (user && kernel && b->v->delimiter)
		push_note(b, "-");
	if (user)
		push_upwards(b, w->ustack, 0, b->p->stacks[w->ustack].nr);
	if (f->instead)
		push_note(b, f->instead);
	else
		push_thread(b, w->thread, w->tid, true);
}

/* Who woke the thread, who woke that one, and so on; nobody wakes an interrupt. */
static void push_wakers(struct builder *b, const struct sample *s)
{
	uint32_t id = s->waker;

	if (!id) {
		push_note(b, "--");
		push_note(b, s->wait & PROF_WAIT_OPEN ? "[not ended]" : "[unknown]");
	}
	for (uint32_t hop = 0; id && hop < MAX_HOPS; hop++) {
		const struct waker *w = &b->p->wakers[id];
		struct waker_frames f = waker_frames(b->p, w);

		push_note(b, "--");
		push_waker(b, w, &f);
		id = f.irq ? 0 : w->next;
	}
}

/* The first frame of a wait, where the view has one: two of those that only wait for a CPU. */
static bool push_class(struct builder *b, uint32_t class)
{
	if (b->v->by == VIEW_BY_CLASS)
		return true;
	if (!b->v->split && !b->v->by_class)
		return false;
	if (WAIT_RUNNABLE & 1u << class)
		push_note(b, "[runnable]");
	push_bracketed(b, waits_name(class));
	return true;
}

/* Nobody wakes a thread that could have run. */
static bool has_waker(const struct sample *s)
{
	uint32_t kind = PROF_WAIT_KIND(s->wait);

	return kind != PROF_PREEMPTED && kind != PROF_THROTTLED;
}

static void push_wait(struct builder *b, const struct sample *s, uint32_t class)
{
	bool told = push_class(b, class);

	if (PROF_WAIT_KIND(s->wait) == PROF_RUNNING || s->wait & PROF_WAIT_NOT_SAMPLED) {
		push_note(b, "[not sampled]");
		if (!told)
			push_bracketed(b, waits_name(class));
	} else {
		push_stacks(b, s);
	}
	if (b->wakers && has_waker(s))
		push_wakers(b, s);
}

static void add_wait(struct builder *b, size_t i)
{
	const struct sample *s = &b->p->samples[i];
	enum waits_fate fate = b->waits.fate[i];

	if (!b->waits.ns[i] || fate == WAITS_LEFT_OUT ||
	    (fate == WAITS_IDLE && b->v->idle == IDLE_HIDE))
		return;
	/* Running time by the clock is no number of anything. */
	begin_path(b, i, PROF_WAIT_KIND(s->wait) == PROF_RUNNING ? 0 : s->count, b->waits.ns[i]);
	if (b->v->by == VIEW_BY_CLASS && fate != WAITS_IDLE)
		push_bracketed(b, waits_name(b->waits.class_of[i]));
	else if (b->v->by != VIEW_BY_CLASS)
		push_owner(b, s);
	if (fate == WAITS_IDLE)
		push_note(b, "[idle]");
	else
		push_wait(b, s, b->waits.class_of[i]);
	end_path(b);
}

static void add_sample(struct builder *b, size_t nr)
{
	const struct kind *kind = kind_of_profile(b->p);
	const struct sample *s = &b->p->samples[nr];

	begin_path(b, nr, s->count, s->weight);
	push_owner(b, s);
	for (uint32_t k = kind->grows; k < FAULTS_FRAMES && kind->faults; k++)
		push_bracketed(b, faults_frame(s, k));
	if (b->operations)
		push_bracketed(b, calls_event_name(b->p, PROF_WAIT_EVENT(s->wait)));
	push_stacks(b, s);
	end_path(b);
}

static void add_samples(struct builder *b)
{
	const struct profile *p = b->p;

	if (!p->meta.is_time) {
		for (size_t i = 0; i < p->nr_samples; i++)
			add_sample(b, i);
		return;
	}
	b->wakers = kind_of_profile(p)->wakers;
	waits_init(&b->waits, p, b->v);
	for (size_t i = 0; i < p->nr_samples; i++)
		add_wait(b, i);
	waits_release(&b->waits);
}

/* What a lost sample stands for: as much as one that was not. */
static double weight_of_lost(const struct profile *p)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->nr_samples; i++)
		count += p->samples[i].count;
	return count ? (double)profile_weight(p) / count : 1;
}

/* What was lost keeps its weight, under its cause. */
static void add_lost(struct builder *b)
{
	double weight = weight_of_lost(b->p);

	for (size_t i = 0; i < PROF_NR_COUNTERS; i++) {
		if (profile_counters[i].kind != COUNTER_LOST || !b->p->counters[i])
			continue;
		begin_path(b, PATH_LOST, b->p->counters[i], round_u64(b->p->counters[i] * weight));
		push_note(b, "[lost]");
		push_bracketed(b, profile_counters[i].key);
		end_path(b);
	}
}

/* Of waits only the number is known by cause, and the time in all. */
static void add_lost_time(struct builder *b)
{
	if (!b->p->counters[PROF_LOST_NS])
		return;
	begin_path(b, PATH_LOST, profile_sum(b->p, COUNTER_LOST), b->p->counters[PROF_LOST_NS]);
	push_note(b, "[lost]");
	end_path(b);
}

void tree_paths_of(struct tree *t, const struct view *v, struct tree_paths *paths)
{
	const struct profile *p = t->profile;
	struct builder b = { .p = p,
			     .v = v,
			     .t = t,
			     .operations = kind_of_profile(p)->operation != NULL,
			     .filter = { .view = v },
			     .out = paths };

	for (size_t i = 0; i < 2; i++)
		b.by_frame[i] = xcalloc(p->nr_frames, sizeof(*b.by_frame[i]));
	add_samples(&b);
	if (p->meta.is_time)
		add_lost_time(&b);
	else
		add_lost(&b);
	for (size_t i = 0; i < 2; i++)
		free(b.by_frame[i]);
	free(b.known);
	tree_filter_release(&b.filter);
}

void tree_paths_release(struct tree_paths *paths)
{
	free(paths->steps);
	free(paths->frames);
	free(paths->paths);
}
