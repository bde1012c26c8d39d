/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A timeline by thread or by process: how long it ran, and how long it waited for a CPU. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/timeline.h"

const char *const timeline_sort_names[TIMELINE_NR_SORTS] = {
	[TIMELINE_BY_MAX] = "max",
	[TIMELINE_BY_AVG] = "avg",
	[TIMELINE_BY_RUNTIME] = "runtime",
	[TIMELINE_BY_SWITCHES] = "switches",
};

uint64_t timeline_avg_ns(const struct timeline_row *r)
{
	return r->delays ? r->ns[TIMELINE_RUNNABLE] / r->delays : 0;
}

uint64_t timeline_max_ns(const struct timeline_row *r)
{
	return r->longest ? r->longest->end_ns - r->longest->start_ns : 0;
}

static void add(struct timeline_row *r, const struct timeline *t, const struct timeline_thread *th)
{
	const struct timeline_span *longest = th->longest1 ? &t->spans[th->longest1 - 1] : NULL;

	for (size_t i = 0; i < TIMELINE_NR_STATES; i++)
		r->ns[i] += th->ns[i];
	r->switches += th->switches;
	r->preempted += th->preempted;
	r->delays += th->delays;
	r->nr_threads++;
	if (longest && longest->end_ns - longest->start_ns >= timeline_max_ns(r))
		r->longest = longest;
	if (!r->name || th->pid == th->tid)
		r->name = th->name;
	r->has_first |= th->pid == th->tid;
}

/* Of a process whose first thread did nothing; NULL = it is not known. */
static const char *name_of_process(const struct profile *p, uint32_t pid)
{
	for (size_t i = 0; i < p->nr_threads; i++)
		if (p->threads[i].pid == pid && p->threads[i].tid == pid)
			return profile_str(p, p->threads[i].process);
	return NULL;
}

static int by_process(const void *pa, const void *pb)
{
	const struct timeline_thread *a = *(const struct timeline_thread *const *)pa;
	const struct timeline_thread *b = *(const struct timeline_thread *const *)pb;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a < b ? -1 : a > b;
}

static uint64_t key_of(const struct timeline_row *r, enum timeline_sort sort)
{
	switch (sort) {
	case TIMELINE_BY_AVG:
		return timeline_avg_ns(r);
	case TIMELINE_BY_RUNTIME:
		return r->ns[TIMELINE_RUNS];
	case TIMELINE_BY_SWITCHES:
		return r->switches;
	default:
		return timeline_max_ns(r);
	}
}

static int largest_first(const void *pa, const void *pb, void *arg)
{
	const struct timeline_row *a = pa, *b = pb;
	enum timeline_sort sort = *(enum timeline_sort *)arg;
	uint64_t x = key_of(a, sort), y = key_of(b, sort);

	if (x != y)
		return x > y ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

struct timeline_row *timeline_rows(const struct timeline *t, enum timeline_sort sort, bool whole,
				   size_t *nr)
{
	const struct timeline_thread **threads = xcalloc(t->nr_threads + 1, sizeof(*threads));
	struct timeline_row *rows = xcalloc(t->nr_threads + 1, sizeof(*rows));
	size_t nr_threads = 0;

	for (size_t i = 0; i < t->nr_threads; i++)
		if (t->threads[i].selected)
			threads[nr_threads++] = &t->threads[i];
	qsort(threads, nr_threads, sizeof(*threads), by_process);
	*nr = 0;
	for (size_t i = 0; i < nr_threads; i++) {
		if (!whole || !i || threads[i - 1]->pid != threads[i]->pid) {
			rows[*nr].pid = threads[i]->pid;
			rows[(*nr)++].tid = whole ? 0 : threads[i]->tid;
		}
		if (whole && !rows[*nr - 1].name && threads[i]->tid != threads[i]->pid)
			rows[*nr - 1].name = name_of_process(t->profile, threads[i]->pid);
		add(&rows[*nr - 1], t, threads[i]);
	}
	qsort_r(rows, *nr, sizeof(*rows), largest_first, &sort);
	free(threads);
	return rows;
}
