/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups are found by sorting everybody who is a thread: rows of the table, and samples. */
#include "profile/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Whom a sample, or a row of the table of threads, is about. */
struct who {
	uint32_t pid, tid, process, thread;
	uint32_t sample; /* index + 1, 0 = a row of a table */
	uint32_t nr;	 /* threads that such a row is about */
	uint64_t wall_ns;
};

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

/* Those of tid 0 come first among their name. */
static int by_name(const void *x, const void *y)
{
	const struct who *a = x, *b = y;
	int order = compare(a->pid, b->pid);

	if (!order)
		order = compare(a->thread, b->thread);
	return order ? order : compare(a->tid, b->tid);
}

/* Those of one group together; rows of the table first, since their name is the thread's. */
static int by_group(const void *x, const void *y)
{
	const struct who *a = x, *b = y;
	int order = compare(a->pid, b->pid);

	if (!order)
		order = compare(a->tid, b->tid);
	if (!order && !a->tid)
		order = compare(a->thread, b->thread);
	if (!order)
		order = compare(a->sample, b->sample);
	return order ? order : compare(a->thread, b->thread);
}

static bool is_one_group(const struct who *a, const struct who *b)
{
	return a->pid == b->pid && a->tid == b->tid && (a->tid || a->thread == b->thread);
}

static struct who *list_all(const struct profile *p, size_t *nr)
{
	struct who *all = xcalloc(p->nr_samples + p->nr_threads + p->nr_merged, sizeof(*all));

	*nr = 0;
	for (size_t i = 0; i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];

		all[(*nr)++] = (struct who){ s->pid, s->tid, s->process, s->thread, i + 1, 0, 0 };
	}
	for (size_t i = 0; i < p->nr_threads; i++) {
		const struct thread_time *t = &p->threads[i];

		all[(*nr)++] =
			(struct who){ t->pid, t->tid, t->process, t->thread, 0, 1, t->wall_ns };
	}
	for (size_t i = 0; i < p->nr_merged; i++) {
		const struct merged_time *t = &p->merged[i];

		all[(*nr)++] =
			(struct who){ t->pid, 0, t->process, t->thread, 0, t->nr, t->wall_ns };
	}
	return all;
}

static bool has_merged(const struct who *all, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!all[i].tid)
			return true;
	return false;
}

/* A name of which one is merged is merged as a whole. */
static void merge_names(struct who *all, size_t nr)
{
	if (!has_merged(all, nr))
		return;
	qsort(all, nr, sizeof(*all), by_name);
	for (size_t i = 0, first = 0; i < nr; i++) {
		if (all[i].pid != all[first].pid || all[i].thread != all[first].thread)
			first = i;
		if (!all[first].tid)
			all[i].tid = 0;
	}
}

void thread_groups_init(struct thread_groups *g, const struct profile *p)
{
	size_t nr;
	struct who *all = list_all(p, &nr);

	*g = (struct thread_groups){ .of_sample = xcalloc(p->nr_samples, sizeof(*g->of_sample)) };
	merge_names(all, nr);
	if (nr)
		qsort(all, nr, sizeof(*all), by_group);
	for (size_t i = 0; i < nr; i++) {
		const struct who *w = &all[i];

		if (!i || !is_one_group(&all[i - 1], w)) {
			g->v = xgrow(g->v, g->nr, &g->cap, sizeof(*g->v));
			g->v[g->nr++] = (struct thread_group){ w->pid,	  w->tid, w->process,
							       w->thread, 0,	  0 };
		}
		g->v[g->nr - 1].wall_ns += w->wall_ns;
		if (w->sample)
			g->of_sample[w->sample - 1] = g->nr - 1;
		else
			g->v[g->nr - 1].nr_threads += w->nr;
	}
	free(all);
}

void thread_groups_release(struct thread_groups *g)
{
	free(g->v);
	free(g->of_sample);
}

/* Of a group: what it ran by the clock, what its stacks say, and how far they have been scaled. */
struct running {
	unsigned __int128 ran, sampled, seen;
	uint64_t given;
	bool has_time;
};

static struct running *running_of(const struct profile *p, const struct thread_groups *g)
{
	struct running *by_group = xcalloc(g->nr, sizeof(*by_group));

	for (size_t i = 0; i < p->nr_samples; i++) {
		struct running *r = &by_group[g->of_sample[i]];

		switch (PROF_WAIT_KIND(p->samples[i].wait)) {
		case PROF_RUNNING:
			r->ran += p->samples[i].weight;
			r->has_time = true;
			break;
		case PROF_ON_CPU:
			r->sampled += p->samples[i].weight;
			break;
		}
	}
	return by_group;
}

/* Each one gets what the sum up to it adds, so that nothing is lost in rounding. */
static uint64_t scale(struct running *r, uint64_t weight)
{
	uint64_t before = r->given;

	r->seen += weight;
	r->given = r->ran * r->seen / r->sampled;
	return r->given - before;
}

uint64_t *thread_weights(const struct profile *p, const struct thread_groups *g)
{
	uint64_t *weights = xcalloc(p->nr_samples, sizeof(*weights));
	struct running *by_group = running_of(p, g);

	for (size_t i = 0; i < p->nr_samples; i++) {
		struct running *r = &by_group[g->of_sample[i]];
		uint32_t kind = PROF_WAIT_KIND(p->samples[i].wait);

		weights[i] = p->samples[i].weight;
		if (kind == PROF_RUNNING && r->sampled)
			weights[i] = 0;
		else if (kind == PROF_ON_CPU && r->has_time && r->sampled)
			weights[i] = scale(r, weights[i]);
	}
	free(by_group);
	return weights;
}
