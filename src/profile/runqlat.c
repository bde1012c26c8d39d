/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arithmetic on histograms. Percentiles and powers of two ask the same question in two directions:
 * which wait has this rank, and which rank has this wait. In between, waits are taken to lie evenly
 * in their bucket, and the highest bucket ends with the longest wait.
 */
#include "profile/runqlat.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const latency_kind_keys[RUNQLAT_NR_KINDS] = {
	[RUNQLAT_WOKEN] = "woken",
	[RUNQLAT_PREEMPTED] = "preempted",
	[RUNQLAT_BOTH] = "both",
};

const double latency_pcts[RUNQLAT_NR_PCTS] = { 50, 90, 99, 99.9 };

void runqlat_take(struct runqlat_row *l, const struct prof_hist_row *row, uint32_t cpu)
{
	l->pid = row->pid;
	l->tid = row->tid;
	l->cpu = cpu;
	memcpy(l->name, row->comm, sizeof(l->name) - 1);
	l->name[sizeof(l->name) - 1] = '\0';
	memcpy(l->hist, row->hist, sizeof(l->hist));
}

void runqlat_get(const struct runqlat_row *l, enum runqlat_kind kind, struct prof_hist *h)
{
	*h = l->hist[kind == RUNQLAT_BOTH ? RUNQLAT_WOKEN : kind];
	if (kind == RUNQLAT_BOTH)
		runqlat_add(h, &l->hist[RUNQLAT_PREEMPTED]);
}

void runqlat_sum(const struct runqlat_row *rows, size_t nr, struct runqlat_row *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < PROF_NR_HISTS; k++)
			runqlat_add(&sum->hist[k], &rows[i].hist[k]);
}

static bool has_waits(const struct runqlat_row *l)
{
	return runqlat_count(&l->hist[RUNQLAT_WOKEN]) || runqlat_count(&l->hist[RUNQLAT_PREEMPTED]);
}

static uint64_t total_ns(const struct runqlat_row *l)
{
	return l->hist[RUNQLAT_WOKEN].sum_ns + l->hist[RUNQLAT_PREEMPTED].sum_ns;
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_total(const void *pa, const void *pb)
{
	const struct runqlat_row *a = *(const struct runqlat_row *const *)pa;
	const struct runqlat_row *b = *(const struct runqlat_row *const *)pb;
	int d = order(total_ns(b), total_ns(a));

	d = d ? d : order(a->pid, b->pid);
	d = d ? d : order(a->tid, b->tid);
	return d ? d : order(a->cpu, b->cpu);
}

const struct runqlat_row **runqlat_sorted(const struct runqlat_row *rows, size_t *nr)
{
	const struct runqlat_row **sorted = xcalloc(*nr, sizeof(const struct runqlat_row *));
	size_t nr_sorted = 0;

	for (size_t i = 0; i < *nr; i++)
		if (has_waits(&rows[i]))
			sorted[nr_sorted++] = &rows[i];
	qsort(sorted, nr_sorted, sizeof(*sorted), by_total);
	*nr = nr_sorted;
	return sorted;
}

void runqlat_add(struct prof_hist *to, const struct prof_hist *h)
{
	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++)
		to->count[i] += h->count[i];
	to->sum_ns += h->sum_ns;
	if (h->max_ns > to->max_ns)
		to->max_ns = h->max_ns;
}

/* A row may have been given to somebody else in between. */
static uint64_t less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void runqlat_subtract(struct prof_hist *now, const struct prof_hist *before, uint64_t max_ns)
{
	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++)
		now->count[i] = less(now->count[i], before->count[i]);
	now->sum_ns = less(now->sum_ns, before->sum_ns);
	now->max_ns = max_ns;
}

uint64_t runqlat_bucket_ns(size_t i)
{
	if (i < 4)
		return i;
	return i < PROF_HIST_BUCKETS ? (4ull + i % 4) << (i / 4 - 1) : UINT64_MAX;
}

uint64_t runqlat_count(const struct prof_hist *h)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++)
		nr += h->count[i];
	return nr;
}

/* The highest bucket with waits; 0 also when there are none. */
static size_t highest(const struct prof_hist *h)
{
	size_t i = PROF_HIST_BUCKETS - 1;

	while (i && !h->count[i])
		i--;
	return i;
}

uint64_t runqlat_max_ns(const struct prof_hist *h)
{
	uint64_t from = runqlat_bucket_ns(highest(h));

	return h->max_ns > from ? h->max_ns : from;
}

/* Waits of bucket i are shorter than this; the highest bucket ends behind the longest one. */
static uint64_t bucket_end_ns(size_t i, uint64_t max_ns)
{
	uint64_t end = runqlat_bucket_ns(i + 1);

	return end > max_ns ? max_ns + (max_ns < UINT64_MAX) : end;
}

double runqlat_percentile_ns(const struct prof_hist *h, double pct)
{
	uint64_t max_ns = runqlat_max_ns(h), from, nr = runqlat_count(h);
	double rank = pct * nr / 100, below = 0, ns;
	size_t i, top = highest(h);

	for (i = 0; i < top && (!h->count[i] || below + h->count[i] < rank); i++)
		below += h->count[i];
	/* A wait that is alone in the highest bucket is the longest one. */
	if (!nr || (i == top && h->count[i] == 1))
		return nr ? max_ns : 0;
	from = runqlat_bucket_ns(i);
	ns = from + (rank - below) / h->count[i] * (bucket_end_ns(i, max_ns) - from);
	return ns < max_ns ? ns : max_ns;
}

struct runqlat_stats runqlat_stats(const struct prof_hist *h)
{
	struct runqlat_stats s = { .count = runqlat_count(h), .total_ns = h->sum_ns };

	if (!s.count)
		return s;
	s.max_ns = runqlat_max_ns(h);
	s.mean_ns = (double)s.total_ns / s.count;
	for (size_t i = 0; i < RUNQLAT_NR_PCTS; i++)
		s.pct_ns[i] = runqlat_percentile_ns(h, latency_pcts[i]);
	return s;
}

/*
 * Waits of bucket i that are shorter than ns. Rounded down: where the longest is, there is at least
 * one.
 */
static uint64_t count_below(const struct prof_hist *h, size_t i, uint64_t ns, uint64_t max_ns)
{
	uint64_t from = runqlat_bucket_ns(i), end = bucket_end_ns(i, max_ns);

	if (ns <= from || ns >= end)
		return ns <= from ? 0 : h->count[i];
	return (uint64_t)((double)h->count[i] * (ns - from) / (end - from));
}

uint64_t runqlat_longer(const struct prof_hist *h, uint64_t ns)
{
	uint64_t max_ns = runqlat_max_ns(h), below = 0;

	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++)
		below += count_below(h, i, ns + 1, max_ns);
	return runqlat_count(h) - below;
}

/* The first nanosecond behind those of counts[log]. */
static uint64_t log2_end_ns(size_t log, uint64_t unit_ns)
{
	uint64_t units = log < 63 ? 2ull << log : UINT64_MAX;

	return units > UINT64_MAX / unit_ns ? UINT64_MAX : units * unit_ns;
}

size_t runqlat_log2(const struct prof_hist *h, uint64_t unit_ns, uint64_t counts[RUNQLAT_LOG2_MAX])
{
	uint64_t max_ns = runqlat_max_ns(h), below, before;
	size_t log = 0, nr = 0;

	memset(counts, 0, RUNQLAT_LOG2_MAX * sizeof(*counts));
	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		while (log2_end_ns(log, unit_ns) <= runqlat_bucket_ns(i))
			log++;
		for (before = 0, nr = log; before < h->count[i]; nr++) {
			below = count_below(h, i, log2_end_ns(nr, unit_ns), max_ns);
			counts[nr] += below - before;
			before = below;
		}
	}
	return nr;
}
