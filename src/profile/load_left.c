/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is left of a recording whose file was truncated. Tables before the cut are whole, those
 * behind it are gone, and of the one in between there are the first rows. A table that says
 * something by all of its rows only goes with its end: slices of time, lengths of waits, counters
 * of samples.
 */
#include "profile/save_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static size_t place_of(const char *tag)
{
	size_t i = 0;

	while (strcmp(save_tables[i].tag, tag))
		i++;
	return i;
}

/* Is the table there to its last row? */
static bool has_all(const struct left *left, const char *tag)
{
	return place_of(tag) < left->table;
}

/* What was recorded and is in no sample is lost. Waits may be in two samples each. */
static void count_lost(struct profile *p)
{
	uint64_t *recorded = &p->counters[PROF_RECORDED], count = 0;

	for (size_t i = 0; i < p->nr_samples; i++)
		count += p->samples[i].count;
	if (p->meta.is_time || count >= *recorded)
		return;
	p->counters[PROF_LOST_FILE] += *recorded - count;
	*recorded = count;
}

static void repair_samples(struct profile *p, const struct left *left)
{
	if (!p->nr_wakers) {
		free(p->wakers);
		p->wakers = xcalloc(1, sizeof(*p->wakers));
		p->nr_wakers = 1;
	}
	for (size_t i = 0; i < p->nr_samples; i++)
		if (p->samples[i].waker >= p->nr_wakers)
			p->samples[i].waker = 0;
	if (!has_all(left, "LOCK") || p->nr_locks != p->nr_wakers)
		p->nr_locks = 0;
	if (!has_all(left, "CNTD"))
		p->nr_columns = p->nr_counted = 0;
}

/* Functions of a frame are inlined calls, from the first to the last. */
static void repair_details(struct profile *p)
{
	for (size_t i = 0; i < p->nr_details; i++)
		if (p->details[i].first > p->nr_inlines ||
		    p->details[i].nr > p->nr_inlines - p->details[i].first)
			p->details[i].first = p->details[i].nr = 0;
}

static void repair_times(struct profile *p, const struct left *left)
{
	if (!has_all(left, "SLCD"))
		p->nr_slices = p->nr_sliced = 0;
	if (!has_all(left, "MMNT"))
		p->nr_moments = p->meta.moment_ns = 0;
	if (!has_all(left, "WMAX"))
		p->nr_wait_buckets = p->nr_longest = 0;
	if (!has_all(left, "LNGW"))
		p->nr_long_waits = p->meta.long_wait_ns = 0;
}

/* The rows whose histograms are whole. */
static void repair_histograms(struct profile *p, const struct left *left)
{
	uint32_t last;

	if (!has_all(left, "CBKT"))
		p->nr_call_buckets = 0;
	if (has_all(left, "HBKT"))
		return;
	last = p->nr_hist_buckets ? p->hist_buckets[p->nr_hist_buckets - 1].row : 0;
	while (p->nr_hist_buckets && p->hist_buckets[p->nr_hist_buckets - 1].row >= last)
		p->nr_hist_buckets--;
	if (p->nr_hist_rows > last)
		p->nr_hist_rows = last;
}

/* Of a timeline the time up to the last event. */
static void repair_timeline(struct profile *p, const struct left *left)
{
	if (left->table != place_of("TMLN") || !p->nr_timeline)
		return;
	p->meta.timeline_end_ns = p->timeline[p->nr_timeline - 1].time_ns;
}

bool left_repair(struct profile *p, const struct left *left)
{
	p->meta.incomplete = 1;
	repair_samples(p, left);
	repair_details(p);
	repair_times(p, left);
	repair_histograms(p, left);
	repair_timeline(p, left);
	if (left->table <= place_of("SMPL"))
		count_lost(p);
	return p->nr_samples || p->nr_timeline || p->nr_call_rows || p->nr_hist_rows;
}

char *left_text(const struct profile *p, const struct left *left)
{
	uint64_t lost = p->counters[PROF_LOST_FILE];
	const char *what = NULL;

	if (left->table >= save_nr_tables)
		return xasprintf("only padding is missing");
	if (left->table == place_of("SMPL"))
		what = p->meta.is_time ? "waits by stack" : "samples by stack";
	if (left->table == place_of("TMLN"))
		what = "events";
	if (left->table == place_of("CALL"))
		what = "rows of calls";
	if (left->table == place_of("HBKT"))
		what = "rows of histograms";
	if (what && lost)
		return xasprintf("%s of its %s samples are left",
				 text_count(p->counters[PROF_RECORDED]),
				 text_count(p->counters[PROF_RECORDED] + lost));
	if (what && left->table == place_of("HBKT"))
		return xasprintf("%s of its %s are left", text_count(p->nr_hist_rows), what);
	if (what)
		return xasprintf("%s of its %s %s are left",
				 text_count(*save_nr(&save_tables[left->table], p)),
				 text_count(left->of), what);
	return xasprintf("all its samples are left, but not what follows them, which may be source "
			 "lines, inlined calls, slices of time and lengths of waits");
}
