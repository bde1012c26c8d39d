/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading histograms and the ring of outliers. */
#include "collect/latency.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void latency_release(struct latency *l)
{
	free(l->before);
}

/* Row i as it is now less what it was; the longest wait is taken away from the kernel's. */
static struct runqlat_row since_before(struct latency *l, struct prof_hist_row *from, size_t i)
{
	struct runqlat_row now, row;
	uint64_t max_ns[PROF_NR_HISTS];

	for (size_t k = 0; k < PROF_NR_HISTS; k++)
		max_ns[k] = __atomic_exchange_n(&from->hist[k].max_ns, 0, __ATOMIC_RELAXED);
	runqlat_take(&now, from, i);
	row = now;
	for (size_t k = 0; k < PROF_NR_HISTS; k++)
		runqlat_subtract(&row.hist[k], &l->before[i].hist[k], max_ns[k]);
	l->before[i] = now;
	return row;
}

struct runqlat_row *latency_rows(struct latency *l, const struct session *s, size_t *nr)
{
	const struct session_maps *maps = session_maps(s);
	struct runqlat_row *rows = xcalloc(maps->nr_hists, sizeof(*rows));

	*nr = maps->nr_hists;
	if (!l->before)
		l->before = xcalloc(*nr, sizeof(*l->before));
	for (size_t i = 0; i < *nr; i++)
		rows[i] = since_before(l, &maps->hists[i], i);
	return rows;
}

static int by_time(const void *x, const void *y)
{
	const struct prof_outlier *a = x, *b = y;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* Copies outlier i, unless the ring has gone over it. */
static bool take(const struct session_maps *maps, uint64_t i, struct prof_outlier *to)
{
	const struct prof_outlier *from = &maps->outliers[i & (PROF_OUTLIERS - 1)];

	memcpy(to, from, sizeof(*to));
	return to->seq == i + 1 && __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE) == i + 1;
}

struct prof_outlier *latency_outliers(struct latency *l, const struct session *s, size_t *nr,
				      uint64_t *lost)
{
	const struct session_maps *maps = session_maps(s);
	uint64_t all = maps->outliers ? __atomic_load_n(maps->nr_outliers, __ATOMIC_ACQUIRE) : 0;
	uint64_t i = all - l->nr_outliers > PROF_OUTLIERS ? all - PROF_OUTLIERS : l->nr_outliers;
	struct prof_outlier *v = xcalloc(PROF_OUTLIERS, sizeof(*v));

	*nr = 0;
	*lost = i - l->nr_outliers;
	for (; i < all; i++) {
		if (take(maps, i, &v[*nr]))
			++*nr;
		else
			++*lost;
	}
	l->nr_outliers = all;
	qsort(v, *nr, sizeof(*v), by_time);
	return v;
}
