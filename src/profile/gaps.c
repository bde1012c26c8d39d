/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each thread of a runtime becomes a sequence of spans that follow each other: its long waits, and
 * what lies between these. A sweep over the begins of all spans then counts who does what.
 */
#include "profile/gaps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "profile/threads.h"

/* What a thread does for a while, as far as its runtime's driver is concerned. */
enum doing {
	RUNS, /* or waits so shortly that nobody wrote it down */
	DRIVES,
	BLOCKS, /* in a task */
	RESTS,
	ELSEWHERE, /* it is no worker now, or not there */
	NR_DOING,
};

struct span {
	uint32_t pid, runtime; /* which one: the workers' name, or the only thread */
	uint32_t tid;
	uint32_t sample;
	uint64_t begin_ns, end_ns;
	enum doing doing;
	bool preempted; /* so it ran before */
};

struct spans {
	struct span *v;
	size_t nr, cap;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_thread(const void *x, const void *y)
{
	const struct span *a = x, *b = y;
	int order = compare(a->pid, b->pid);

	order = order ? order : compare(a->tid, b->tid);
	return order ? order : compare(a->begin_ns, b->begin_ns);
}

static int by_runtime(const void *x, const void *y)
{
	const struct span *a = x, *b = y;
	int order = compare(a->pid, b->pid);

	order = order ? order : compare(a->runtime, b->runtime);
	order = order ? order : compare(a->begin_ns, b->begin_ns);
	return order ? order : by_thread(x, y);
}

static void add(struct spans *s, struct span one)
{
	s->v = xgrow(s->v, s->nr, &s->cap, sizeof(*s->v));
	s->v[s->nr++] = one;
}

/* --- from waits to spans --- */

static enum doing doing_of(const struct context_of *of)
{
	static const enum doing by_context[CONTEXT_NR] = {
		[CONTEXT_NONE] = RESTS,		 [CONTEXT_TASK] = BLOCKS,
		[CONTEXT_POOL_JOB] = ELSEWHERE,	 [CONTEXT_MAIN_FUTURE] = BLOCKS,
		[CONTEXT_RUNTIME] = RESTS,	 [CONTEXT_IDLE_PARK] = RESTS,
		[CONTEXT_IDLE_DRIVER] = DRIVES,	 [CONTEXT_IDLE_POOL] = ELSEWHERE,
		[CONTEXT_IDLE_BLOCK_ON] = RESTS, [CONTEXT_OTHER] = RESTS,
		[CONTEXT_NOT_SAMPLED] = RESTS,
	};

	return by_context[of->context];
}

static bool waits(const struct sample *s)
{
	uint32_t kind = PROF_WAIT_KIND(s->wait);

	return kind != PROF_RUNNING && kind != PROF_ON_CPU;
}

/* Which runtime the threads of a group drive, 0 = none: of workers their name, or the thread. */
static uint32_t *find_runtimes(const struct contexts *c, const struct thread_groups *groups)
{
	uint32_t *runtimes = xcalloc(groups->nr + 1, sizeof(*runtimes));

	for (size_t i = 0; i < c->p->nr_samples; i++) {
		const struct context_of *of = contexts_at(c, i);
		const struct sample *s = &c->p->samples[i];
		uint32_t *to = &runtimes[groups->of_sample[i]];

		if (!of->runtime || !context_has_driver(of->runtime - 1) || !s->tid)
			continue;
		if (of->role == ROLE_WORKER)
			*to = s->thread;
		else if (of->role == ROLE_BLOCK_ON && of->context == CONTEXT_IDLE_DRIVER && !*to)
			*to = UINT32_MAX - s->tid; /* no string has such an id */
	}
	return runtimes;
}

static void add_waits(struct spans *s, const struct contexts *c)
{
	const struct profile *p = c->p;
	struct thread_groups groups;
	uint32_t *runtimes;

	thread_groups_init(&groups, p);
	runtimes = find_runtimes(c, &groups);
	for (size_t i = 0; i < p->nr_long_waits; i++) {
		const struct long_wait *w = &p->long_waits[i];
		const struct sample *of = &p->samples[w->sample];
		uint32_t group = groups.of_sample[w->sample];

		if (runtimes[group] && waits(of))
			add(s, (struct span){
				       .pid = of->pid,
				       .runtime = runtimes[group],
				       .tid = of->tid,
				       .sample = w->sample,
				       .begin_ns = w->begin_ns,
				       .end_ns = w->end_ns,
				       .doing = doing_of(contexts_at(c, w->sample)),
				       .preempted = PROF_WAIT_KIND(of->wait) == PROF_PREEMPTED,
			       });
	}
	free(runtimes);
	thread_groups_release(&groups);
}

/*
 * Between two waits a thread runs; one of the pool that stays there runs no worker. Before its
 * first wait it was not born yet, unless it was taken off its CPU; workers do not end.
 */
static enum doing between(const struct span *a, const struct span *b)
{
	if (!a)
		return b->preempted && b->doing != ELSEWHERE ? RUNS : ELSEWHERE;
	return a->doing == ELSEWHERE && (!b || b->doing == ELSEWHERE) ? ELSEWHERE : RUNS;
}

static void add_between(struct spans *s, const struct span *a, const struct span *b,
			uint64_t begin_ns, uint64_t end_ns)
{
	struct span one = a ? *a : *b;

	one.doing = between(a, b);
	one.begin_ns = begin_ns;
	one.end_ns = end_ns;
	if (end_ns > begin_ns)
		add(s, one);
}

/* From the begin of the recording to its end, without holes. */
static void fill(struct spans *s, uint64_t duration_ns)
{
	size_t nr = s->nr;

	for (size_t i = 0; i < nr; i++) {
		struct span before = i ? s->v[i - 1] : s->v[i], own = s->v[i];
		bool first = !i || before.pid != own.pid || before.tid != own.tid;
		bool last = i + 1 == nr || s->v[i + 1].pid != own.pid || s->v[i + 1].tid != own.tid;

		add_between(s, first ? NULL : &before, &own, first ? 0 : before.end_ns,
			    own.begin_ns);
		if (last)
			add_between(s, &own, NULL, own.end_ns, duration_ns);
	}
}

/* --- the sweep --- */

struct sweep {
	struct gaps *g;
	uint64_t least_ns;
	const struct span **now; /* per thread of the runtime */
	size_t nr, cap;
	uint64_t by[NR_DOING];
	struct gap open; /* ns 1: it is */
};

static void close_gap(struct sweep *s, uint64_t at_ns)
{
	struct gaps *g = s->g;

	if (!s->open.ns)
		return;
	s->open.ns = at_ns - s->open.begin_ns;
	if (s->open.ns >= s->least_ns) {
		g->v = xgrow(g->v, g->nr, &g->cap, sizeof(*g->v));
		g->v[g->nr++] = s->open;
		g->ns += s->open.ns;
		if (s->open.ns > g->longest_ns)
			g->longest_ns = s->open.ns;
	}
	s->open.ns = 0;
}

static const struct span *last_to_block(const struct sweep *s)
{
	const struct span *last = NULL;

	for (size_t i = 0; i < s->nr; i++)
		if (s->now[i]->doing == BLOCKS && (!last || s->now[i]->begin_ns > last->begin_ns))
			last = s->now[i];
	return last;
}

/* The thread goes on to its next span. */
static void turn(struct sweep *s, const struct span *next)
{
	size_t i = 0;

	while (i < s->nr && s->now[i]->tid != next->tid)
		i++;
	if (i == s->nr) {
		s->now = xgrow(s->now, s->nr, &s->cap, sizeof(*s->now));
		s->nr++;
	} else {
		s->by[s->now[i]->doing]--;
	}
	s->now[i] = next;
	s->by[next->doing]++;
}

static void look(struct sweep *s, uint64_t at_ns)
{
	bool gap = s->by[BLOCKS] && !s->by[RUNS] && !s->by[DRIVES];

	if (!gap)
		close_gap(s, at_ns);
	else if (!s->open.ns)
		s->open = (struct gap){ last_to_block(s)->sample, at_ns, 1 };
}

/* All spans of one runtime, in the order of their begins. */
static void sweep(struct sweep *s, const struct span *v, size_t nr, uint64_t duration_ns)
{
	s->nr = 0;
	s->open.ns = 0;
	for (size_t i = 0; i < NR_DOING; i++)
		s->by[i] = 0;
	for (size_t i = 0; i < nr; i++) {
		turn(s, &v[i]);
		if (i + 1 == nr || v[i + 1].begin_ns != v[i].begin_ns)
			look(s, v[i].begin_ns);
	}
	close_gap(s, duration_ns);
}

bool gaps_init(struct gaps *g, const struct contexts *c, uint64_t least_ns)
{
	uint64_t duration_ns = c->p->meta.duration_ns;
	struct sweep s = { .g = g, .least_ns = least_ns };
	struct spans spans = {};
	size_t first = 0;

	*g = (struct gaps){};
	if (!c->v || !c->p->nr_long_waits)
		return false;
	add_waits(&spans, c);
	if (spans.nr)
		qsort(spans.v, spans.nr, sizeof(*spans.v), by_thread);
	fill(&spans, duration_ns);
	if (spans.nr)
		qsort(spans.v, spans.nr, sizeof(*spans.v), by_runtime);
	for (size_t i = 0; i < spans.nr; i++) {
		const struct span *v = &spans.v[i];

		if (i + 1 < spans.nr && v->pid == v[1].pid && v->runtime == v[1].runtime)
			continue;
		sweep(&s, &spans.v[first], i + 1 - first, duration_ns);
		first = i + 1;
	}
	free(s.now);
	free(spans.v);
	return first != 0;
}

void gaps_release(struct gaps *g)
{
	free(g->v);
	*g = (struct gaps){};
}

uint64_t *gaps_weights(const struct gaps *g, const struct profile *p)
{
	uint64_t *weights = xcalloc(p->nr_samples + 1, sizeof(*weights));

	for (size_t i = 0; i < g->nr; i++)
		weights[g->v[i].sample] += g->v[i].ns;
	return weights;
}
