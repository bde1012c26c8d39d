/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Class, idleness and weight of every sample, in one pass. */
#include "profile/waits.h"

#include <stdlib.h>

#include "base/mem.h"
#include "profile/gaps.h"
#include "profile/idle.h"
#include "profile/threads.h"

const char *waits_name(uint32_t class)
{
	return class == WAITS_ON_CPU ? "on-cpu" : wait_class_names[class];
}

struct waits_sum waits_runnable(const struct waits *w)
{
	const struct waits_sum *woken = &w->by_class[WAIT_WOKEN],
			       *preempted = &w->by_class[WAIT_PREEMPTED];

	return (struct waits_sum){ woken->ns + preempted->ns, woken->nr + preempted->nr };
}

uint64_t waits_us(uint64_t ns)
{
	return ns / 1000 + (ns % 1000 >= 500);
}

/* What a user stack has to do with it. */
enum user { USER_UNKNOWN, USER_NONE, USER_WAITS, USER_SLEEPS };

/* The last answer for a kernel stack: most have one reason to wait, and many samples. */
struct memo {
	uint32_t wait;
	uint8_t known, class; /* known: enum user, of the sample that it was */
	uint8_t user;	      /* of this stack, as a user stack */
};

static uint8_t user_of(const struct profile *p, const struct sample *s, struct memo *memo)
{
	if (!s->ustack)
		return USER_NONE;
	memo += s->ustack;
	if (!memo->user)
		memo->user = wait_sleeps(p, s->ustack) ? USER_SLEEPS : USER_WAITS;
	return memo->user;
}

static uint32_t class_of(const struct profile *p, const struct sample *s, struct memo *memo)
{
	uint32_t kind = PROF_WAIT_KIND(s->wait);
	uint8_t user;

	if (kind == PROF_RUNNING || kind == PROF_ON_CPU)
		return WAITS_ON_CPU;
	user = user_of(p, s, memo);
	memo += s->kstack;
	if (memo->known != user || memo->wait != s->wait) {
		memo->wait = s->wait;
		memo->known = user;
		memo->class = wait_class(p, s);
	}
	return memo->class;
}

static enum waits_fate fate_of(const struct view *v, uint32_t class, bool idle)
{
	if (v->classes && (class == WAITS_ON_CPU || !(v->classes & 1u << class)))
		return WAITS_LEFT_OUT;
	return idle ? WAITS_IDLE : WAITS_SHOWN;
}

static void add(struct waits_sum *sum, const struct sample *s, uint64_t ns)
{
	sum->ns += ns;
	/* Running time by the clock is no number of anything. */
	if (PROF_WAIT_KIND(s->wait) != PROF_RUNNING)
		sum->nr += s->count;
}

static void add_sample(struct waits *w, const struct sample *s, size_t i)
{
	uint64_t ns = w->ns[i];

	add(&w->all, s, ns);
	add(w->fate[i] == WAITS_IDLE ? &w->idle : &w->by_class[w->class_of[i]], s, ns);
	if (w->fate[i] == WAITS_LEFT_OUT)
		add(&w->left_out, s, ns);
	if (s->wait & PROF_WAIT_OPEN)
		add(&w->open, s, ns);
	if (s->wait & PROF_WAIT_BEFORE)
		add(&w->before, s, ns);
	if (s->wait & PROF_WAIT_NOT_SAMPLED)
		add(&w->not_sampled, s, ns);
}

/* A group of merged threads whose time is not known may be any number of them. */
static uint64_t count_threads(const struct thread_groups *g)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < g->nr; i++) {
		if (!g->v[i].tid && !g->v[i].wall_ns)
			return 0;
		nr += g->v[i].tid ? 1 : g->v[i].nr_threads;
	}
	return nr;
}

/* A wait weighs what it kept the driver of a runtime from being polled; others weigh nothing. */
static void weigh_gaps(struct waits *w, const struct profile *p, const struct view *v)
{
	struct contexts contexts;
	struct gaps gaps;

	contexts_init(&contexts, p);
	gaps_init(&gaps, &contexts, v->gap_ns ? v->gap_ns : GAP_NS);
	free(w->ns);
	w->ns = gaps_weights(&gaps, p);
	gaps_release(&gaps);
	contexts_release(&contexts);
}

void waits_init(struct waits *w, const struct profile *p, const struct view *v)
{
	struct memo *memo = xcalloc(p->nr_stacks, sizeof(*memo));
	struct thread_groups groups;
	struct idle idle;

	*w = (struct waits){ .class_of = xcalloc(p->nr_samples, 1),
			     .fate = xcalloc(p->nr_samples, 1),
			     .idle_is = xcalloc(p->nr_samples, 1) };
	thread_groups_init(&groups, p);
	w->ns = thread_weights(p, &groups);
	w->nr_threads = count_threads(&groups);
	if (v->gaps)
		weigh_gaps(w, p, v);
	thread_groups_release(&groups);
	idle_init(&idle, p);
	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		w->class_of[i] = class_of(p, s, memo);
		w->fate[i] = fate_of(v, w->class_of[i], idle_is(&idle, s));
		w->idle_is[i] = w->fate[i] == WAITS_IDLE;
		add_sample(w, s, i);
		/* Told apart in the sums, and shown like any other. */
		if (w->fate[i] == WAITS_IDLE && v->idle == IDLE_SHOW)
			w->fate[i] = WAITS_SHOWN;
	}
	idle_release(&idle);
	free(memo);
}

void waits_release(struct waits *w)
{
	free(w->ns);
	free(w->class_of);
	free(w->fate);
	free(w->idle_is);
}
