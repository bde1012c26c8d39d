/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a view shows of each sample, as a path of names from the root to the leaf. */
#include "profile/tree_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/large.h"
#include "base/mem.h"
#include "base/round.h"
#include "profile/calls.h"
#include "profile/faults.h"
#include "profile/kind.h"
#include "profile/machinery.h"
#include "profile/waker.h"

#define MAX_HOPS 16 /* of wakers that are shown; a file may have any number */

static uint32_t add_name(struct path_builder *b, const char *s, int spaces, const char *suffix)
{
	char *whole = view_safe(s, spaces, suffix);
	uint32_t id = strings_add(&b->t->names, whole, strlen(whole));

	free(whole);
	return id;
}

static uint32_t add_function(struct path_builder *b, uint32_t frame, uint32_t i, enum naming as)
{
	char *name = as >= AS_RUNTIMES
			     ? view_short_function(b->v, b->p, frame, i,
						   as == AS_POLLED || as == AS_POLLED_RUNNERS)
			     : view_function(b->v, b->p, frame, i, as == AS_WAKERS);
	uint32_t id = strings_add(&b->t->names, name, strlen(name));

	free(name);
	return id;
}

/* The steps of a frame's functions, innermost first, made at first sight. */
static struct known steps_of(struct path_builder *b, uint32_t id, enum naming as)
{
	const struct frame *f = profile_frame_at(b->p, id);
	struct known *k = &b->by_frame[as][id];
	uint32_t first, nr;

	if (k->nr)
		return *k;
	nr = view_functions(b->v, b->p, id, &first);
	*k = (struct known){ .first = b->nr_known };
	for (uint32_t i = 0; i < nr; i++) {
		struct frame_function place = profile_frame_function(b->p, id, first + i);

		/* Formats that keep addresses show whole frames. */
		if (as >= AS_RUNTIMES && !b->out->with_frames &&
		    trim_hides(&b->trim, id, first + i))
			continue;
		k->nr++;
		b->known = xgrow(b->known, b->nr_known, &b->cap_known, sizeof(*b->known));
		b->known[b->nr_known++] =
			(struct step){ .name = add_function(b, id, first + i, as),
				       .module = profile_frame_module(b->p, id),
				       .kind = f->kind,
				       .waker = as == AS_WAKERS || as >= AS_RUNNERS,
				       .file = place.file,
				       .line = place.line };
	}
	return *k;
}

static void push_of(struct path_builder *b, const struct step *s, uint32_t frame)
{
	struct tree_paths *out = b->out;

	out->steps = xgrow_large(out->steps, out->nr_steps, &out->cap_steps, sizeof(*s));
	out->steps[out->nr_steps] = *s;
	if (out->with_frames) {
		out->frames =
			xgrow(out->frames, out->nr_steps, &out->cap_frames, sizeof(*out->frames));
		out->frames[out->nr_steps] = frame;
	}
	out->nr_steps++;
}

static void push(struct path_builder *b, const struct step *s)
{
	push_of(b, s, 0);
}

void path_push_note(struct path_builder *b, const char *text)
{
	push(b, &(struct step){ .name = add_name(b, text, 0, "") });
}

/* "[lock]" and the like. */
void path_push_bracketed(struct path_builder *b, const char *text)
{
	char *note = xasprintf("[%s]", text);

	path_push_note(b, note);
	free(note);
}

/* A file may say anything: a path that is long already gets each frame's own function only. */
static struct known frame_steps(struct path_builder *b, uint32_t id, enum naming as)
{
	struct known k = steps_of(b, id, as);
	bool all = b->out->nr_steps - b->out->paths[b->out->nr_paths - 1].first < PROF_MAX_FRAMES;

	return all ? k : (struct known){ k.first + k.nr - 1, 1 };
}

void path_push_frame(struct path_builder *b, uint32_t id, enum naming as)
{
	struct known k = frame_steps(b, id, as);

	for (uint32_t f = k.nr; f > 0; f--)
		push_of(b, &b->known[k.first + f - 1], f == k.nr ? id : STEP_SAME_FRAME);
}

/* Root first, without the first frames at the leaf. */
static void push_stack(struct path_builder *b, uint32_t id, uint32_t first)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(b->p, id, &nr);

	for (uint32_t i = nr; i > first; i--)
		path_push_frame(b, frames[i - 1], AS_THREADS);
}

/* The same of a runtime's thread. */
static void push_trimmed(struct path_builder *b, const struct context_of *of, uint32_t id)
{
	size_t nr;
	const struct trimmed *shown = trim_stack(&b->trim, of, id, &nr);

	for (size_t i = nr; i > 0; i--) {
		const struct trimmed *t = &shown[i - 1];
		const struct frame *f = profile_frame_at(b->p, t->frame);

		if (t->instead)
			push_of(b,
				&(struct step){ .name = add_name(b, t->instead, 0, ""),
						.module = profile_frame_module(b->p, t->frame),
						.kind = f->kind },
				0);
		else
			path_push_frame(b, t->frame, t->poll ? AS_POLLED : AS_RUNTIMES);
	}
}

void path_push_frame_upwards(struct path_builder *b, uint32_t id, enum naming as)
{
	struct known k = frame_steps(b, id, as);

	for (uint32_t f = 0; f < k.nr; f++)
		push_of(b, &b->known[k.first + f], f ? STEP_SAME_FRAME : id);
}

/* Frames [first, end), leaf first. */
static void push_upwards(struct path_builder *b, uint32_t id, uint32_t first, uint32_t end)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(b->p, id, &nr);

	for (uint32_t i = first; i < end && i < nr; i++)
		path_push_frame_upwards(b, frames[i], AS_WAKERS);
}

static uint32_t thread_name(struct path_builder *b, uint32_t thread, uint32_t tid, bool merge)
{
	char *name = xstrdup(profile_str(b->p, thread)), suffix[16] = "";
	size_t len = strlen(name);
	uint32_t id;

	while (merge && len > 1 && name[len - 1] >= '0' && name[len - 1] <= '9')
		name[--len] = '\0';
	if (b->v->per_thread)
		snprintf(suffix, sizeof(suffix), "/%u", tid);
	id = add_name(b, name, 1, suffix);
	free(name);
	return id;
}

/* Samples are many, threads few. */
static void push_thread(struct path_builder *b, uint32_t thread, uint32_t tid, bool waker,
			bool merge)
{
	const uint32_t told = b->v->per_thread ? tid : 0;
	struct thread_name *known = &b->threads[(thread + told) % NAMED_THREADS];

	if (!known->name || known->thread != thread || known->tid != told || known->merge != merge)
		*known = (struct thread_name){ thread, told, thread_name(b, thread, tid, merge),
					       merge };
	push(b, &(struct step){ .name = known->name, .waker = waker });
}

/* "tokio-rt-worker/w2(8483)" */
static void push_numbered(struct path_builder *b, size_t i)
{
	char *number = trim_thread(&b->trim, i), *suffix = xasprintf("/%s", number);

	push(b, &(struct step){ .name = add_name(b, profile_str(b->p, b->p->samples[i].thread), 1,
						 suffix) });
	free(suffix);
	free(number);
}

/* The thread that a sample is of, or its process. */
static void push_owner(struct path_builder *b, size_t i, const struct context_of *of)
{
	const struct sample *s = &b->p->samples[i];
	bool by_name = b->v->group == GROUP_NAME || (path_context(of) && !b->v->group);
	char suffix[16];

	if (of && b->v->group == GROUP_THREAD && b->v->by != VIEW_BY_PROCESS) {
		push_numbered(b, i);
		return;
	}
	if (b->v->by != VIEW_BY_PROCESS) {
		push_thread(b, s->thread, s->tid, false, b->v->merge_threads || by_name);
		return;
	}
	snprintf(suffix, sizeof(suffix), "/%u", s->pid);
	push(b, &(struct step){ .name = add_name(b, profile_str(b->p, s->process), 1, suffix) });
}

/* In the tree's unit weights count, or samples. */
static void begin_path(struct path_builder *b, uint32_t sample, uint64_t samples, uint64_t weight)
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

static void end_path(struct path_builder *b)
{
	struct path *last = &b->out->paths[b->out->nr_paths - 1];

	last->nr = b->out->nr_steps - last->first;
	if (tree_filter_keeps(&b->filter, b->t, b->out->steps + last->first, last->nr)) {
		tree_share_steps(&b->seen, b->out);
		return;
	}
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

/* Innermost, of those who took the stack; where a tracepoint was hit, --frames all shows them. */
static uint32_t hidden_frames(const struct path_builder *b, const struct sample *s)
{
	if (b->operations || is_switched(s))
		return wait_plumbing(b->p, s->kstack);
	return b->v->frames == FRAMES_ALL ? 0 : machinery_frames(b->p, s);
}

static void push_stacks(struct path_builder *b, const struct sample *s, const struct context_of *of)
{
	bool user = s->ustack && !b->v->kernel_only, kernel = s->kstack && !b->v->user_only;

	if (of && is_switched(s) && trim_hides_kernel(&b->trim, of))
		kernel = false;
	if (user && of)
		push_trimmed(b, of, s->ustack);
	else if (user)
		push_stack(b, s->ustack, 0);
	if (user && kernel && b->v->delimiter)
		path_push_note(b, "-");
	if (kernel)
		push_stack(b, s->kstack, hidden_frames(b, s));
}

static void push_waker(struct path_builder *b, const struct waker *w, const struct waker_frames *f)
{
	bool user = w->ustack && !b->v->kernel_only && !f->irq;
	bool kernel = w->kstack && !b->v->user_only;

	if (f->note)
		path_push_note(b, f->note);
	if (kernel)
		push_upwards(b, w->kstack, f->first, f->end);
	if (user && kernel && b->v->delimiter)
		path_push_note(b, "-");
	if (user && !path_push_runner(b, w))
		push_upwards(b, w->ustack, 0, b->p->stacks[w->ustack].nr);
	if (f->instead)
		path_push_note(b, f->instead);
	else
		push_thread(b, w->thread, w->tid, true, b->v->merge_threads);
}

/* Who woke the thread, who woke that one, and so on; nobody wakes an interrupt. */
static void push_wakers(struct path_builder *b, const struct sample *s)
{
	uint32_t id = s->waker;

	if (!id) {
		path_push_note(b, "--");
		path_push_note(b, s->wait & PROF_WAIT_OPEN ? "[not ended]" : "[unknown]");
	}
	for (uint32_t hop = 0; id && hop < MAX_HOPS; hop++) {
		const struct waker *w = &b->p->wakers[id];
		struct waker_frames f = waker_frames(b->p, w);

		path_push_note(b, "--");
		push_waker(b, w, &f);
		id = f.irq ? 0 : w->next;
	}
}

/* The first frame of a wait, where the view has one: two of those that only wait for a CPU. */
static bool push_class(struct path_builder *b, uint32_t class)
{
	if (b->v->by == VIEW_BY_CLASS)
		return true;
	if (!b->v->split && !b->v->by_class)
		return false;
	if (WAIT_RUNNABLE & 1u << class)
		path_push_note(b, "[runnable]");
	path_push_bracketed(b, waits_name(class));
	return true;
}

/* Nobody wakes a thread that could have run. */
static bool has_waker(const struct sample *s)
{
	uint32_t kind = PROF_WAIT_KIND(s->wait);

	return kind != PROF_PREEMPTED && kind != PROF_THROTTLED;
}

static void push_wait(struct path_builder *b, const struct sample *s, uint32_t class,
		      const struct context_of *of)
{
	bool told = push_class(b, class);

	if (PROF_WAIT_KIND(s->wait) == PROF_RUNNING || s->wait & PROF_WAIT_NOT_SAMPLED) {
		path_push_note(b, "[not sampled]");
		if (!told)
			path_push_bracketed(b, waits_name(class));
	} else {
		push_stacks(b, s, of);
		if (of && *of->kind && b->v->by != VIEW_BY_KIND &&
		    !(told && !strcmp(of->kind, waits_name(class))))
			path_push_bracketed(b, of->kind);
	}
	if (b->wakers && has_waker(s))
		push_wakers(b, s);
}

static void add_wait(struct path_builder *b, size_t i)
{
	const struct sample *s = &b->p->samples[i];
	const struct context_of *of = trim_context(&b->trim, i);
	enum waits_fate fate = b->waits.fate[i];

	if (!b->waits.ns[i] || fate == WAITS_LEFT_OUT ||
	    (fate == WAITS_IDLE && b->v->idle == IDLE_HIDE))
		return;
	/* Running time by the clock is no number of anything. */
	begin_path(b, i, PROF_WAIT_KIND(s->wait) == PROF_RUNNING ? 0 : s->count, b->waits.ns[i]);
	if (!path_push_key(b, i, of))
		push_owner(b, i, of);
	of = path_context(of);
	path_push_context(b, of);
	if (fate == WAITS_IDLE && !(of && context_is_idle(of->context)))
		path_push_note(b, "[idle]");
	if (fate != WAITS_IDLE)
		push_wait(b, s, b->waits.class_of[i], of);
	end_path(b);
}

static void add_sample(struct path_builder *b, size_t nr)
{
	const struct kind *kind = kind_of_profile(b->p);
	const struct sample *s = &b->p->samples[nr];
	const struct context_of *of = trim_context(&b->trim, nr);

	begin_path(b, nr, s->count, s->weight);
	if (!path_push_key(b, nr, of))
		push_owner(b, nr, of);
	of = path_context(of);
	path_push_context(b, of);
	for (uint32_t k = kind->grows; k < FAULTS_FRAMES && kind->faults; k++)
		path_push_bracketed(b, faults_frame(s, k));
	if (b->operations)
		path_push_bracketed(b, calls_event_name(b->p, PROF_WAIT_EVENT(s->wait)));
	push_stacks(b, s, of);
	end_path(b);
}

static void add_samples(struct path_builder *b)
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
static void add_lost(struct path_builder *b)
{
	double weight = weight_of_lost(b->p);

	for (size_t i = 0; i < PROF_NR_COUNTERS; i++) {
		if (profile_counters[i].kind != COUNTER_LOST || !b->p->counters[i])
			continue;
		begin_path(b, PATH_LOST, b->p->counters[i], round_u64(b->p->counters[i] * weight));
		path_push_note(b, "[lost]");
		path_push_bracketed(b, profile_counters[i].key);
		end_path(b);
	}
}

/* Of waits only the number is known by cause, and the time in all. */
static void add_lost_time(struct path_builder *b)
{
	if (!b->p->counters[PROF_LOST_NS])
		return;
	begin_path(b, PATH_LOST, profile_sum(b->p, COUNTER_LOST), b->p->counters[PROF_LOST_NS]);
	path_push_note(b, "[lost]");
	end_path(b);
}

void tree_paths_of(struct tree *t, const struct view *v, struct tree_paths *paths)
{
	const struct profile *p = t->profile;
	struct path_builder b = { .p = p,
				  .v = v,
				  .t = t,
				  .operations = kind_of_profile(p)->operation ||
						kind_of_profile(p)->syscalls,
				  .filter = { .view = v },
				  .out = paths };

	for (size_t i = 0; i < NR_NAMINGS; i++)
		b.by_frame[i] = xcalloc(p->nr_frames, sizeof(*b.by_frame[i]));
	trim_init(&b.trim, p, v);
	add_samples(&b);
	if (p->meta.is_time)
		add_lost_time(&b);
	else
		add_lost(&b);
	for (size_t i = 0; i < NR_NAMINGS; i++)
		free(b.by_frame[i]);
	trim_release(&b.trim);
	free(b.known);
	index_release(&b.seen);
	tree_filter_release(&b.filter);
}

void tree_paths_release(struct tree_paths *paths)
{
	free(paths->steps);
	free(paths->frames);
	free(paths->paths);
}
