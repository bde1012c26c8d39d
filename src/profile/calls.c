/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of calls, made of a profile. */
#include "profile/calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int by_weight(const void *x, const void *y)
{
	const struct calls_row *a = x, *b = y;

	if (a->stats.total_ns != b->stats.total_ns)
		return a->stats.total_ns > b->stats.total_ns ? -1 : 1;
	if (a->stats.count != b->stats.count)
		return a->stats.count > b->stats.count ? -1 : 1;
	if (strcmp(a->function, b->function))
		return strcmp(a->function, b->function);
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void make_hists(struct calls *c, const struct profile *p)
{
	c->hists = xcalloc(p->nr_call_rows, sizeof(*c->hists));
	for (size_t i = 0; i < p->nr_call_buckets; i++) {
		const struct call_bucket *b = &p->call_buckets[i];

		c->hists[b->row].count[b->index] += b->count;
	}
	for (size_t i = 0; i < p->nr_call_rows; i++) {
		c->hists[i].sum_ns = p->call_rows[i].sum_ns;
		c->hists[i].max_ns = p->call_rows[i].max_ns;
	}
}

const char *calls_event_name(const struct profile *p, uint32_t event)
{
	return event < p->nr_events ? profile_str(p, p->events[event].name) : "";
}

/* Each call was looked at with a chance of 1 / every, whatever happened to the others. */
static double error_of(uint64_t calls, uint64_t every)
{
	double nr = (double)calls / every;

	return every > 1 && nr > 0 ? 2 * sqrt((1 - 1.0 / every) / nr) : 0;
}

static void make_row(struct calls *c, const struct profile *p, size_t i)
{
	const struct call_row *from = &p->call_rows[i];
	const struct sampled_event *e = from->event < p->nr_events ? &p->events[from->event] : NULL;
	struct calls_row *row = &c->rows[i];

	*row = (struct calls_row){ .function = calls_event_name(p, from->event),
				   .where = e ? profile_str(p, e->note) : "",
				   .values = profile_str(p, from->values),
				   .process = profile_str(p, from->process),
				   .pid = from->pid,
				   .stats.count = from->calls };
	if (c->timed) {
		row->hist = &c->hists[i];
		row->stats = runqlat_stats(row->hist);
		row->stats.count = from->calls;
	}
	row->per_s = p->meta.duration_ns ? from->calls * 1e9 / p->meta.duration_ns : 0;
	row->error = error_of(from->calls, c->every);
	c->values |= from->values != 0;
	c->processes |= from->pid != 0;
	c->nr_calls += from->calls;
}

void calls_init(struct calls *c, const struct profile *p)
{
	*c = (struct calls){ .rows = xcalloc(p->nr_call_rows, sizeof(*c->rows)),
			     .nr = p->nr_call_rows,
			     .timed = p->meta.timed,
			     .every = p->nr_events ? p->events[0].period : 1 };
	if (c->timed)
		make_hists(c, p);
	for (size_t i = 0; i < c->nr; i++)
		make_row(c, p, i);
	qsort(c->rows, c->nr, sizeof(*c->rows), by_weight);
}

void calls_release(struct calls *c)
{
	free(c->rows);
	free(c->hists);
	*c = (struct calls){};
}
