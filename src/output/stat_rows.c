/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads, processes, cgroups or CPUs as a table: the first event, by which it is sorted (CPUs are
 * by number), the metrics, then the other events that were asked for by name, as many as fit. What
 * is left out has rows too, so that it adds up.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/figures.h"
#include "output/grid.h"
#include "output/stat_text.h"

#define TOP_ROWS     40
#define TOP_INTERVAL 10
#define MIN_HEAD     8
#define MIN_NAME     10 /* "[left out]" */

/* One number of a row: a metric, else an event; found by name, since rows need not be alike. */
struct column {
	const struct stat_metric *metric;
	const struct stat_event *event;
};

struct table {
	const struct stat_report *r;
	struct grid grid;
	struct column *v;
	size_t nr, cap;
};

static double value_of(const struct stat_row *row, const struct column *c)
{
	const struct stat_metric *m = c->metric ? stat_row_metric(row, c->metric->name) : NULL;
	const struct stat_event *e = c->event ? stat_row_event(row, c->event->name) : NULL;

	return m ? m->number.mean : e ? stat_event_value(e) : NAN;
}

/* What the table is sorted by and adds up. */
static double weight_of(const struct stat_row *row)
{
	double value = row->nr_events ? stat_event_value(&row->events[0]) : NAN;

	return isnan(value) ? 0 : value;
}

static int heaviest_first(const void *pa, const void *pb)
{
	const struct stat_row *a = *(const struct stat_row *const *)pa;
	const struct stat_row *b = *(const struct stat_row *const *)pb;
	double wa = weight_of(a), wb = weight_of(b);

	if (wa != wb)
		return wa > wb ? -1 : 1;
	return a < b ? -1 : a > b;
}

static const struct stat_row **sorted(const struct stat_report *r)
{
	const struct stat_row **v = xcalloc(r->nr_rows + 1, sizeof(*v));

	for (size_t i = 0; i < r->nr_rows; i++)
		v[i] = &r->rows[i];
	if (r->by != STAT_BY_CPU)
		qsort(v, r->nr_rows, sizeof(*v), heaviest_first);
	return v;
}

/* Those that come first are the last to go where there is little room. */
static void add_column(struct table *t, const struct column *c)
{
	t->v = xgrow(t->v, t->nr, &t->cap, sizeof(*t->v));
	t->v[t->nr++] = *c;
	grid_add(&t->grid,
		 (struct grid_column){ .head = c->metric ? c->metric->name : c->event->name,
				       .rank = t->nr - 1,
				       .min = MIN_HEAD });
}

static void add_metrics(struct table *t)
{
	const struct stat_row *all = &t->r->all;

	for (size_t i = 0; i < all->nr_metrics; i++) {
		const struct stat_metric *m = &all->metrics[i];

		/* One that stands in two sets is one column. */
		if (!isnan(m->number.mean) && stat_row_metric(all, m->name) == m)
			add_column(t, &(struct column){ .metric = m });
	}
}

/* Events from..to; what is not available here is in no row. */
static void add_events(struct table *t, size_t from, size_t to)
{
	const struct stat_row *all = &t->r->all;

	for (size_t i = from; i < to && i < all->nr_events; i++)
		if (all->events[i].count.state != COUNT_NOT_AVAILABLE)
			add_column(t, &(struct column){ .event = &all->events[i] });
}

static const char *name_head(const struct stat_report *r)
{
	return r->by == STAT_BY_CGROUP ? "CGROUP" : r->by == STAT_BY_CPU ? "CPU" : "NAME";
}

/* Columns that have nothing in any row are not shown: of cgroups the first two. */
static void table_init(struct table *t, const struct stat_report *r, size_t width, FILE *out)
{
	const struct grid_column columns[] = {
		{ .head = "PID" },
		{ .head = "TID" },
		{ .head = name_head(r), .kind = GRID_TEXT, .min = MIN_NAME },
		{ .head = "ON CPU" },
	};

	*t = (struct table){ .r = r };
	grid_init(&t->grid, out, columns, 4);
	t->grid.width = width;
	add_events(t, 0, 1);
	add_metrics(t);
	add_events(t, 1, r->all.nr_metrics ? r->nr_named : SIZE_MAX);
}

/* "%" stands behind the number; other units are those of the metric everywhere. */
static void put_cell(struct table *t, const struct column *c, const struct stat_row *row)
{
	const struct stat_event *e = c->event ? stat_row_event(row, c->event->name) : NULL;
	double x = value_of(row, c);

	if (c->metric && !isnan(x))
		grid_cell(&t->grid, "%s%s", figure_short(x), *c->metric->unit == '%' ? "%" : "");
	else if (e && !count_is_there(&e->count))
		grid_cell(&t->grid, "%s", count_state_text(e->count.state));
	else
		grid_cell(&t->grid, "%s", isnan(x) ? "-" : figure_amount(x, c->event->unit));
}

static void put_id(struct table *t, uint32_t id, bool shown)
{
	if (id && shown)
		grid_cell(&t->grid, "%" PRIu32, id);
	else
		grid_cell(&t->grid, "%s", "");
}

static void put_row(struct table *t, enum style style, const struct stat_row *row, const char *name)
{
	enum stat_by by = t->r->by;

	grid_row(&t->grid, style, NULL);
	put_id(t, row->pid, by == STAT_BY_PROCESS || by == STAT_BY_THREAD);
	put_id(t, row->tid, by == STAT_BY_THREAD);
	grid_cell(&t->grid, "%s", name);
	grid_cell(&t->grid, "%s", row->running_ns ? text_ns(row->running_ns) : "");
	for (size_t i = 0; i < t->nr; i++)
		put_cell(t, &t->v[i], row);
}

/* Events and times of some rows, added up; without metrics, which do not add up. */
static void sum_init(struct stat_row *sum, const struct stat_row *like)
{
	*sum = (struct stat_row){ .nr_events = like->nr_events };
	sum->events = xcalloc(like->nr_events + 1, sizeof(*sum->events));
	for (size_t i = 0; i < like->nr_events; i++) {
		sum->events[i].name = like->events[i].name; /* borrowed */
		sum->events[i].count.state = COUNT_COUNTED;
	}
}

static void sum_add(struct stat_row *sum, const struct stat_row *row)
{
	for (size_t i = 0; i < sum->nr_events; i++) {
		const struct stat_event *e = stat_row_event(row, sum->events[i].name);
		double value = e ? stat_event_value(e) : NAN;

		sum->events[i].count.value += isnan(value) ? 0 : value;
	}
	sum->running_ns += row->running_ns;
}

static void put_others(struct table *t, const struct stat_row *const *rows, size_t nr)
{
	struct stat_row sum;
	char name[32];

	if (!nr)
		return;
	sum_init(&sum, &t->r->all);
	for (size_t i = 0; i < nr; i++)
		sum_add(&sum, rows[i]);
	snprintf(name, sizeof(name), "[%zu more]", nr);
	put_row(t, STYLE_PLAIN, &sum, name);
	free(sum.events);
}

static void put_part(struct table *t, enum style style, const struct stat_row *part,
		     const char *name, struct stat_row *sum)
{
	if (!part->name)
		return;
	put_row(t, style, part, name);
	sum_add(sum, part);
}

/* By how much the parts miss what was counted without telling them apart. */
static void put_closing(const struct table *t, const struct stat_row *sum, FILE *out)
{
	double all = weight_of(&t->r->all), off = all ? 100 * (weight_of(sum) - all) / all : 0;
	const struct stat_event *e = t->r->all.events;

	if (!t->r->all.nr_events)
		return;
	fprintf(out, "\nThe rows add up to %s ", figure_amount(weight_of(sum), e->unit));
	figure_fit(e->name, figure_width(e->name), out);
	fprintf(out, " of %s counted (%+.2f%%).\n", figure_amount(all, e->unit),
		fabs(off) < 0.005 ? 0 : off);
}

static void put_total(struct table *t, struct stat_row *sum)
{
	put_part(t, STYLE_IDLE, &t->r->idle, "[idle]", sum);
	put_part(t, STYLE_PLAIN, &t->r->filtered, "[left out]", sum);
	put_part(t, STYLE_BAD, &t->r->lost, "[lost]", sum);
	put_row(t, STYLE_PLAIN, sum, "[total]");
	put_row(t, STYLE_PLAIN, &t->r->all, "[counted]");
}

void stat_put_rows(const struct stat_report *r, size_t width, FILE *out)
{
	const struct stat_row **rows = sorted(r);
	size_t most = r->by == STAT_BY_CPU ? SIZE_MAX : r->interval ? TOP_INTERVAL : TOP_ROWS;
	size_t shown = r->nr_rows < most ? r->nr_rows : most;
	struct stat_row sum;
	struct table t;

	table_init(&t, r, width, out);
	sum_init(&sum, &r->all);
	for (size_t i = 0; i < r->nr_rows; i++) {
		if (i < shown)
			put_row(&t, STYLE_PLAIN, rows[i], rows[i]->name ? rows[i]->name : "");
		sum_add(&sum, rows[i]);
	}
	put_others(&t, rows + shown, r->nr_rows - shown);
	put_total(&t, &sum);
	grid_end(&t.grid);
	put_closing(&t, &sum, out);
	if (r->nr_rows > shown)
		fprintf(out, "--json and --csv have all rows.\n");
	free(sum.events);
	free(t.v);
	free(rows);
}
