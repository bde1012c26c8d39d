/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Intervals, one line each: the seconds since the start, then the metrics and the events that were
 * asked for by name, without metrics all events. On a terminal those that fit; in a pipe all of
 * them, in columns that stay where they are.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "output/figures.h"
#include "output/output.h"
#include "output/stat_text.h"

#define TIME_WIDTH  10
#define COUNT_WIDTH 15
#define MIN_CELL    8
#define MAX_HEAD    20
#define HEADS_EVERY 20 /* lines, on a terminal */

struct cells {
	FILE *out;
	size_t left;
	bool heads, cut;
};

/* What is put is text, right-aligned in its column, as long as the line has room. */
static void put_cell(struct cells *c, const char *text, size_t width)
{
	size_t has = figure_width(text);

	if (c->cut || c->left < width + 1) {
		c->cut = true;
		return;
	}
	c->left -= width + 1;
	fprintf(c->out, " %*s", has < width ? (int)(width - has) : 0, "");
	figure_fit(text, has < width ? has : width, c->out);
}

static void put_metrics(struct cells *c, const struct stat_row *row)
{
	for (size_t i = 0; i < row->nr_metrics; i++) {
		const struct stat_metric *m = &row->metrics[i];
		size_t width = figure_width(m->name);
		char cell[64];

		width = width < MIN_CELL ? MIN_CELL : width > MAX_HEAD ? MAX_HEAD : width;
		snprintf(cell, sizeof(cell), "%s%s", figure_short(m->number.mean),
			 *m->unit != '%' || isnan(m->number.mean) ? "" : "%");
		if (stat_row_metric(row, m->name) == m)
			put_cell(c, c->heads ? m->name : cell, width);
	}
}

static void put_events(struct cells *c, const struct stat_row *row, size_t nr)
{
	for (size_t i = 0; i < nr && i < row->nr_events; i++) {
		const struct stat_event *e = &row->events[i];
		size_t width = figure_width(e->name);

		width = width < COUNT_WIDTH ? COUNT_WIDTH : width > MAX_HEAD ? MAX_HEAD : width;
		put_cell(c,
			 c->heads		     ? e->name
			 : count_is_there(&e->count) ? figure_amount(stat_event_value(e), e->unit)
						     : count_state_text(e->count.state),
			 width);
	}
}

static void put_cells(const struct stat_report *r, bool heads, bool terminal, FILE *out)
{
	struct cells c = { .out = out, .heads = heads };

	c.left = terminal ? output_width(out) - TIME_WIDTH : SIZE_MAX;
	put_metrics(&c, &r->all);
	put_events(&c, &r->all, r->all.nr_metrics ? r->nr_named : r->all.nr_events);
	fputc('\n', out);
}

void stat_put_line(const struct stat_report *r, FILE *out)
{
	double at = r->elapsed_s > 0 ? r->elapsed_s : r->interval * r->seconds.mean;
	int fd = fileno(out);
	bool terminal = fd >= 0 && isatty(fd), split = r->by != STAT_BY_ALL;

	if (split && r->interval > 1)
		fputc('\n', out);
	if (r->interval == 1 || split || (terminal && r->interval % HEADS_EVERY == 1)) {
		fprintf(out, "%*s", TIME_WIDTH, "seconds");
		put_cells(r, true, terminal, out);
	}
	fprintf(out, "%*.3f", TIME_WIDTH, at);
	put_cells(r, false, terminal, out);
}
