/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The walk over stacks by the rows of runtimes: the innermost marker of each stack decides. */
#include "profile/context_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/context_rows.h"
#include "profile/pattern.h"

/* What is known of a frame, looked up once. */
struct context_known {
	uint8_t looked_at;
	uint8_t runtime; /* number + 1 */
	uint8_t marker;	 /* of its rows */
	uint8_t clues;
	bool passes; /* stands between every wait and its reason */
};

/* --- frames --- */

static uint32_t clues_of(const char *normal)
{
	uint32_t clues = 0;

	for (size_t i = 0; i < context_nr_clues; i++)
		if (!(clues & context_clues[i].clue) && pattern_is(normal, context_clues[i].name))
			clues |= context_clues[i].clue;
	return clues;
}

static void look_up_marker(const struct context_stacks *c, const char *normal,
			   struct context_known *k)
{
	for (uint32_t r = 0; r < context_nr; r++) {
		const struct context_runtime *runtime = &context_runtimes[r];

		for (size_t i = 0; c->has[r] && i < runtime->nr; i++) {
			if (!pattern_is(normal, runtime->markers[i].name))
				continue;
			k->runtime = r + 1;
			k->marker = i;
			return;
		}
	}
}

static const struct context_known *known_of(const struct context_stacks *c, uint32_t frame)
{
	struct context_known *k = &c->frames[frame];
	char *normal;

	if (k->looked_at)
		return k;
	k->looked_at = 1;
	normal = pattern_normal(profile_frame_name(c->p, frame));
	look_up_marker(c, normal, k);
	k->clues = clues_of(normal);
	k->passes =
		k->clues || context_noise_of(normal) != NOISE_NOT || !strncmp(normal, "std::", 5);
	free(normal);
	return k;
}

static const struct context_marker *marker_of(const struct context_stacks *c, uint32_t frame)
{
	const struct context_known *k = known_of(c, frame);

	return k->runtime ? &context_runtimes[k->runtime - 1].markers[k->marker] : NULL;
}

static enum mark mark_of(const struct context_stacks *c, uint32_t frame)
{
	const struct context_marker *m = marker_of(c, frame);

	return m ? m->mark : MARK_NONE;
}

/* --- stacks --- */

/* From the innermost marker on towards the root. */
struct walk {
	const struct context_stacks *c;
	const uint32_t *frames;
	uint32_t nr, at;       /* of the marker */
	enum mark first, next; /* it, and the next that is not a thread that waits for a future */
	uint32_t next_at;
	uint32_t marks;	    /* bits by enum mark: all of them */
	uint32_t outermost; /* of MARK_TASK */
	uint8_t role;
};

/* Not the beginning of a thread: it is no runtime's. */
static bool decides(enum mark mark)
{
	return mark != MARK_NONE && mark != MARK_THREAD && mark != MARK_ENTER;
}

static bool find_innermost(struct walk *w, struct context_shape *s)
{
	for (w->at = 0; w->at < w->nr; w->at++) {
		w->first = mark_of(w->c, w->frames[w->at]);
		if (decides(w->first))
			break;
		s->clues |= known_of(w->c, w->frames[w->at])->clues;
	}
	return w->at < w->nr;
}

static void look_outwards(struct walk *w)
{
	for (uint32_t i = w->at; i < w->nr; i++) {
		const struct context_marker *m = marker_of(w->c, w->frames[i]);

		if (!m)
			continue;
		w->marks |= 1u << m->mark;
		if (m->role && w->role != ROLE_WORKER)
			w->role = m->role;
		if (m->mark == MARK_TASK)
			w->outermost = i;
		if (!w->next && decides(m->mark) && m->mark != MARK_BLOCKON) {
			w->next = m->mark;
			w->next_at = i;
		}
	}
}

static bool has(const struct walk *w, enum mark mark)
{
	return w->marks & 1u << mark;
}

/* How many tasks are polled: by its functions one, since several of one task stand on a stack. */
static uint32_t nr_polls(const struct walk *w)
{
	uint32_t most = 0;

	for (uint32_t i = w->at; i < w->nr; i++) {
		const struct context_marker *m = marker_of(w->c, w->frames[i]), *other;
		uint32_t nr = 0;

		if (!m || !m->counts)
			continue;
		for (uint32_t k = i; k < w->nr; k++) {
			other = marker_of(w->c, w->frames[k]);
			nr += other == m;
		}
		most = nr > most ? nr : most;
	}
	return most;
}

/* Whose the task is that is run: a job of the pool goes by the same functions. */
static enum context owner(struct walk *w)
{
	if (has(w, MARK_WORKER) || has(w, MARK_RUN) || nr_polls(w) > 1)
		return CONTEXT_TASK;
	if (has(w, MARK_POOL) ||
	    (w->outermost + 1 < w->nr && mark_of(w->c, w->frames[w->outermost + 1]) == MARK_THREAD))
		return CONTEXT_POOL_JOB;
	return CONTEXT_TASK;
}

/* Where a thread waits for a future: the task's or the job's affair that it is within. */
static enum context context_of_block_on(struct walk *w, struct context_shape *s)
{
	s->block_on = w->next != MARK_NONE;
	switch (w->next) {
	case MARK_PARK: /* a runtime without a driver */
		s->block_on = false;
		return CONTEXT_IDLE_PARK;
	case MARK_TASK:
		s->own = w->next_at;
		return owner(w);
	case MARK_POOL:
		return CONTEXT_POOL_JOB;
	case MARK_NONE:
		return CONTEXT_IDLE_BLOCK_ON;
	default:
		return CONTEXT_RUNTIME;
	}
}

static enum context context_of_mark(struct walk *w, struct context_shape *s)
{
	bool locks = s->clues & CLUE_LOCK;

	switch (w->first) {
	case MARK_PARK:
		return locks ? CONTEXT_RUNTIME : CONTEXT_IDLE_PARK;
	case MARK_BLOCKON:
		return context_of_block_on(w, s);
	case MARK_TASK:
		return owner(w);
	case MARK_POOL:
		return locks ? CONTEXT_RUNTIME : CONTEXT_IDLE_POOL;
	default:
		return CONTEXT_RUNTIME;
	}
}

/* By the innermost functions, where those of a loop are inlined. */
static uint8_t role_of(const struct walk *w, enum context context)
{
	if (context == CONTEXT_POOL_JOB || context == CONTEXT_IDLE_POOL)
		return ROLE_POOL;
	if (w->role || has(w, MARK_POOL))
		return w->role ? w->role : ROLE_POOL;
	return has(w, MARK_THREAD) && has(w, MARK_TASK) ? ROLE_WORKER : ROLE_BLOCK_ON;
}

static bool has_mark(const struct context_stacks *c, const uint32_t *frames, uint32_t nr,
		     enum mark mark)
{
	for (uint32_t i = 0; i < nr; i++)
		if (mark_of(c, frames[i]) == mark)
			return true;
	return false;
}

const struct context_shape *context_shape(const struct context_stacks *c, uint32_t stack)
{
	struct context_shape *s = &c->shapes[stack];
	struct walk w = { .c = c };

	if (s->known)
		return s;
	s->known = true;
	w.frames = profile_stack_frames(c->p, stack, &w.nr);
	s->own = w.nr;
	if (find_innermost(&w, s)) {
		look_outwards(&w);
		s->own = w.at;
		s->runtime = known_of(c, w.frames[w.at])->runtime;
		s->context = context_of_mark(&w, s);
		s->role = role_of(&w, s->context);
	} else if (has_mark(c, w.frames, w.nr, MARK_ENTER)) {
		s->runtime = 1;
		s->context = CONTEXT_MAIN_FUTURE;
		s->role = ROLE_BLOCK_ON;
	}
	return s;
}

bool context_is_bare(const struct context_stacks *c, uint32_t stack)
{
	uint32_t nr;
	const uint32_t *frames = profile_stack_frames(c->p, stack, &nr);

	for (uint32_t i = 0; i < nr; i++) {
		const struct context_known *k = known_of(c, frames[i]);

		if (mark_of(c, frames[i]) == MARK_THREAD)
			return true;
		if (!k->passes || k->clues & (CLUE_CHANNEL | CLUE_PARK | CLUE_JOIN))
			return false;
	}
	return false;
}

static bool has_needle(const struct profile *p, const char *needle)
{
	return memmem(p->strings.bytes, p->strings.len, needle, strlen(needle));
}

bool context_stacks_init(struct context_stacks *c, const struct profile *p)
{
	bool any = p->meta.runtimes; /* without names its stacks still have clues */

	*c = (struct context_stacks){ .p = p };
	for (uint32_t r = 0; r < context_nr && r < CONTEXT_MAX_RUNTIMES; r++)
		any |= c->has[r] = has_needle(p, context_runtimes[r].needle);
	if (!any || !p->nr_samples)
		return false;
	c->frames = xcalloc(p->nr_frames, sizeof(*c->frames));
	c->shapes = xcalloc(p->nr_stacks, sizeof(*c->shapes));
	return true;
}

void context_stacks_release(struct context_stacks *c)
{
	free(c->frames);
	free(c->shapes);
}
