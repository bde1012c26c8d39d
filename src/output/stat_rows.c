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
#include "output/stat_text.h"

#define TOP_ROWS     40
#define TOP_INTERVAL 10
#define ID_WIDTH     7
#define TIME_WIDTH   7
#define COUNT_WIDTH  15 /* "123,456,789,012" */
#define MIN_CELL     8
#define MAX_HEAD     16
#define MIN_NAME     10 /* "[left out]" */
#define MAX_NAME     40
#define COMM_NAME    15
#define MAX_COLUMNS  32

/* One number of a row: a metric, else an event; found by name, since rows need not be alike. */
struct column {
	const struct stat_metric *metric;
	const struct stat_event *event;
	size_t width;
};

struct table {
	const struct stat_report *r;
	bool pid, tid, time;
	size_t name;
	struct column v[MAX_COLUMNS];
	size_t nr, nr_left_out;
};

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

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

static void add_column(struct table *t, const struct column *c, size_t *left)
{
	if (t->nr == MAX_COLUMNS || t->nr_left_out || (t->nr && *left < c->width + 1)) {
		t->nr_left_out++;
		return;
	}
	*left -= min(*left, c->width + 1);
	t->v[t->nr++] = *c;
}

static void add_metrics(struct table *t, size_t *left)
{
	const struct stat_row *all = &t->r->all;

	for (size_t i = 0; i < all->nr_metrics; i++) {
		const struct stat_metric *m = &all->metrics[i];
		struct column c = { .metric = m };

		c.width = min(max(figure_width(m->name), MIN_CELL), MAX_HEAD);
		/* One that stands in two sets is one column. */
		if (!isnan(m->number.mean) && stat_row_metric(all, m->name) == m)
			add_column(t, &c, left);
	}
}

/* Events from..to; what is not available here is in no row. */
static void add_events(struct table *t, size_t *left, size_t from, size_t to)
{
	const struct stat_row *all = &t->r->all;

	for (size_t i = from; i < to && i < all->nr_events; i++) {
		struct column c = { .event = &all->events[i] };

		if (c.event->count.state == COUNT_NOT_AVAILABLE)
			continue;
		c.width = max(COUNT_WIDTH, min(figure_width(c.event->name), MAX_HEAD));
		add_column(t, &c, left);
	}
}

static void table_init(struct table *t, const struct stat_report *r, size_t width)
{
	size_t name = MIN_NAME, left;

	*t = (struct table){ .r = r };
	t->pid = r->by == STAT_BY_PROCESS || r->by == STAT_BY_THREAD;
	t->tid = r->by == STAT_BY_THREAD;
	for (size_t i = 0; i < r->nr_rows; i++) {
		name = max(name, figure_width(r->rows[i].name ? r->rows[i].name : ""));
		t->time = t->time || r->rows[i].running_ns;
	}
	t->name = min(name, t->pid ? COMM_NAME : width > 2 * MAX_NAME ? MAX_NAME : width / 2);
	left = width - t->name - (t->pid + t->tid) * (ID_WIDTH + 1) -
	       (t->time ? TIME_WIDTH + 1 : 0);
	add_events(t, &left, 0, 1);
	add_metrics(t, &left);
	add_events(t, &left, 1, r->all.nr_metrics ? r->nr_named : SIZE_MAX);
}

/* "%" stands behind the number; other units are those of the metric everywhere. */
static void put_cell(const struct column *c, const struct stat_row *row, FILE *out)
{
	const struct stat_event *e = c->event ? stat_row_event(row, c->event->name) : NULL;
	double x = value_of(row, c);
	char cell[64];

	if (c->metric && isnan(x))
		snprintf(cell, sizeof(cell), "-");
	else if (c->metric)
		snprintf(cell, sizeof(cell), "%s%s", figure_short(x),
			 *c->metric->unit == '%' ? "%" : "");
	else if (e && !count_is_there(&e->count))
		snprintf(cell, sizeof(cell), "%s", count_state_text(e->count.state));
	else
		snprintf(cell, sizeof(cell), "%s",
			 isnan(x) ? "-" : figure_amount(x, c->event->unit));
	fprintf(out, " %*s", (int)c->width, cell);
}

static void put_heads(const struct table *t, FILE *out)
{
	fputc('\n', out);
	if (t->pid)
		fprintf(out, "%*s ", ID_WIDTH, "PID");
	if (t->tid)
		fprintf(out, "%*s ", ID_WIDTH, "TID");
	figure_fit(t->r->by == STAT_BY_CGROUP ? "CGROUP"
		   : t->r->by == STAT_BY_CPU  ? "CPU"
					      : "NAME",
		   t->name, out);
	if (t->time)
		fprintf(out, " %*s", TIME_WIDTH, "ON CPU");
	for (size_t i = 0; i < t->nr; i++) {
		const struct column *c = &t->v[i];
		const char *head = c->metric ? c->metric->name : c->event->name;

		fprintf(out, " %*s", (int)(c->width - min(c->width, figure_width(head))), "");
		figure_fit(head, min(c->width, figure_width(head)), out);
	}
	fputc('\n', out);
}

static void put_row(const struct table *t, const struct stat_row *row, const char *name, FILE *out)
{
	if (t->pid && row->pid)
		fprintf(out, "%*" PRIu32 " ", ID_WIDTH, row->pid);
	else if (t->pid)
		fprintf(out, "%*s ", ID_WIDTH, "");
	if (t->tid && row->tid)
		fprintf(out, "%*" PRIu32 " ", ID_WIDTH, row->tid);
	else if (t->tid)
		fprintf(out, "%*s ", ID_WIDTH, "");
	figure_fit(name, t->name, out);
	if (t->time)
		fprintf(out, " %*s", TIME_WIDTH, row->running_ns ? text_ns(row->running_ns) : "");
	for (size_t i = 0; i < t->nr; i++)
		put_cell(&t->v[i], row, out);
	fputc('\n', out);
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

static void put_others(const struct table *t, const struct stat_row *const *rows, size_t nr,
		       FILE *out)
{
	struct stat_row sum;
	char name[32];

	if (!nr)
		return;
	sum_init(&sum, &t->r->all);
	for (size_t i = 0; i < nr; i++)
		sum_add(&sum, rows[i]);
	snprintf(name, sizeof(name), "[%zu more]", nr);
	put_row(t, &sum, name, out);
	free(sum.events);
}

static void put_part(const struct table *t, const struct stat_row *part, const char *name,
		     struct stat_row *sum, FILE *out)
{
	if (!part->name)
		return;
	put_row(t, part, name, out);
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

static void put_total(const struct table *t, struct stat_row *sum, FILE *out)
{
	put_part(t, &t->r->idle, "[idle]", sum, out);
	put_part(t, &t->r->filtered, "[left out]", sum, out);
	put_part(t, &t->r->lost, "[lost]", sum, out);
	put_row(t, sum, "[total]", out);
	put_row(t, &t->r->all, "[counted]", out);
	put_closing(t, sum, out);
}

void stat_put_rows(const struct stat_report *r, size_t width, FILE *out)
{
	const struct stat_row **rows = sorted(r);
	size_t most = r->by == STAT_BY_CPU ? SIZE_MAX : r->interval ? TOP_INTERVAL : TOP_ROWS;
	size_t shown = min(r->nr_rows, most);
	struct stat_row sum;
	struct table t;

	table_init(&t, r, width);
	sum_init(&sum, &r->all);
	put_heads(&t, out);
	for (size_t i = 0; i < r->nr_rows; i++) {
		if (i < shown)
			put_row(&t, rows[i], rows[i]->name ? rows[i]->name : "", out);
		sum_add(&sum, rows[i]);
	}
	put_others(&t, rows + shown, r->nr_rows - shown, out);
	put_total(&t, &sum, out);
	if (r->nr_rows > shown || t.nr_left_out)
		fprintf(out, "--json and --csv have all rows and columns.\n");
	free(sum.events);
	free(rows);
}
