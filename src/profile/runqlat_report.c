/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports of runqlat in a profile: its facts, a head for each row, and the buckets with waits. */
#include "profile/runqlat_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of files that anybody may have written: 146 years, and what a double holds exactly. */
#define MAX_NS	  (1ull << 62)
#define MAX_WAITS (1ull << 53)
#define MAX_ROWS  (1u << 20)

static void keep_buckets(struct profile *p, const struct runqlat_row *row, uint32_t kind)
{
	struct hist_bucket b = { .row = p->nr_hist_rows - 1, .kind = kind };

	for (b.index = 0; b.index < PROF_HIST_BUCKETS; b.index++) {
		b.count = row->hist[kind].count[b.index];
		if (b.count)
			profile_add_hist_bucket(p, &b);
	}
}

static void keep_row(struct profile *p, const struct runqlat_row *row)
{
	struct hist_row head = { .pid = row->pid, .tid = row->tid, .cpu = row->cpu };

	memcpy(head.name, row->name, sizeof(head.name));
	for (size_t k = 0; k < PROF_NR_HISTS; k++) {
		head.sum_ns[k] = row->hist[k].sum_ns;
		head.max_ns[k] = row->hist[k].max_ns;
	}
	profile_add_hist_row(p, &head);
	for (uint32_t k = 0; k < PROF_NR_HISTS; k++)
		keep_buckets(p, row, k);
}

void runqlat_report_keep(const struct runqlat_report *r, struct profile *p)
{
	size_t nr = r->nr_rows;
	const struct runqlat_row **rows = runqlat_sorted(r->rows, &nr);

	for (size_t i = 0; i < nr; i++)
		keep_row(p, rows[i]);
	for (size_t i = 0; i < r->nr_outliers; i++)
		profile_add_outlier(p, &r->outliers[i]);
	p->meta.hist_by = r->by;
	p->meta.hist_split = r->split;
	p->meta.threshold_ns = r->threshold_ns;
	p->meta.outliers_from_ns = r->start_ns;
	p->meta.outliers_lost = r->outliers_lost;
	free(rows);
}

/* Sums stay where arithmetic is exact. */
static bool grows(uint64_t *sum, uint64_t by, uint64_t max)
{
	if (by > max - *sum)
		return false;
	*sum += by;
	return true;
}

static bool can_rows(const struct profile *p)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < p->nr_hist_rows; i++)
		for (size_t k = 0; k < PROF_NR_HISTS; k++)
			if (p->hist_rows[i].max_ns[k] > MAX_NS ||
			    !grows(&sum_ns, p->hist_rows[i].sum_ns[k], MAX_NS))
				return false;
	return p->nr_hist_rows <= MAX_ROWS;
}

bool runqlat_report_can(const struct profile *p)
{
	uint64_t nr = 0;

	if (p->meta.hist_by > PROF_HIST_BY_THREAD || !can_rows(p))
		return false;
	for (size_t i = 0; i < p->nr_hist_buckets; i++) {
		const struct hist_bucket *b = &p->hist_buckets[i];

		if (b->row >= p->nr_hist_rows || b->kind >= PROF_NR_HISTS ||
		    b->index >= PROF_HIST_BUCKETS || !grows(&nr, b->count, MAX_WAITS))
			return false;
	}
	for (size_t i = 0; i < p->nr_outliers; i++)
		if (p->outliers[i].kind >= PROF_NR_HISTS)
			return false;
	return true;
}

static struct runqlat_row *make_rows(const struct profile *p)
{
	struct runqlat_row *rows = xcalloc(p->nr_hist_rows, sizeof(*rows));

	for (size_t i = 0; i < p->nr_hist_rows; i++) {
		const struct hist_row *head = &p->hist_rows[i];

		rows[i].pid = head->pid;
		rows[i].tid = head->tid;
		rows[i].cpu = head->cpu;
		memcpy(rows[i].name, head->name, sizeof(rows[i].name) - 1);
		for (size_t k = 0; k < PROF_NR_HISTS; k++) {
			rows[i].hist[k].sum_ns = head->sum_ns[k];
			rows[i].hist[k].max_ns = head->max_ns[k];
		}
	}
	for (size_t i = 0; i < p->nr_hist_buckets; i++) {
		const struct hist_bucket *b = &p->hist_buckets[i];

		rows[b->row].hist[b->kind].count[b->index] += b->count;
	}
	return rows;
}

void runqlat_report_make(struct runqlat_report *r, const struct profile *p)
{
	*r = (struct runqlat_report){
		.target = profile_str(p, p->meta.target),
		.start_real_ns = p->meta.start_ns,
		.duration_ns = p->meta.duration_ns,
		.rows = make_rows(p),
		.nr_rows = p->nr_hist_rows,
		.by = p->meta.hist_by,
		.split = p->meta.hist_split,
		.threshold_ns = p->meta.threshold_ns,
		.start_ns = p->meta.outliers_from_ns,
		.outliers = p->outliers,
		.nr_outliers = p->nr_outliers,
		.outliers_lost = p->meta.outliers_lost,
		.counters = p->counters,
		.profile = p,
		.ended_by = p->meta.ended_by,
	};
}

void runqlat_report_release(struct runqlat_report *r)
{
	free((void *)r->rows);
	*r = (struct runqlat_report){};
}
