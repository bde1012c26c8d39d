/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts and metrics for people: where it was measured, each set of metrics with verdicts and what
 * to do about them, the events behind, and what to be careful with.
 */
#include "output/stat_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/figures.h"
#include "output/grid.h"
#include "output/output.h"
#include "output/stat.h"

#define INDENT	    2
#define DETAIL	    6 /* indent of what a metric was computed from */
#define VALUE_WIDTH 9
#define ERROR_WIDTH 10 /* "+- 12.34%" */
#define VERDICT_MAX 15 /* "investigate (!)" */
#define MAX_UNIT    24
#define MIN_LABEL   16
#define MIN_MEANING 32
#define MIN_UNIT    4
#define WIDE	    100 /* columns, from where on units are spelled out */
#define ROUGH_DUTY  20	/* percent, below which a scaled count is a guess */

struct layout {
	size_t width, label, unit;
	size_t error;	/* 0: one run has none, or there is no room for it */
	double seconds; /* of a run */
};

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static const char *str(const char *s)
{
	return s ? s : "";
}

static size_t nr_runs(const struct stat_report *r)
{
	return r->seconds.nr_runs ? r->seconds.nr_runs : 1;
}

/* What stands behind the number: a unit, or the word that a scale has for it. */
static const char *unit_of(const struct stat_metric *m, size_t width)
{
	const char *unit;

	figure_scaled(m->number.mean, m->unit, &unit);
	if (!*unit)
		return metric_grade(m->name, m->number.mean, m->verdict);
	return width < WIDE && !strcmp(unit, "per 1,000 instructions") ? "per 1k instr." : unit;
}

static void layout_init(struct layout *l, const struct stat_report *r, size_t width)
{
	const struct stat_row *all = &r->all;
	size_t rest;

	*l = (struct layout){ .width = width,
			      .error = nr_runs(r) > 1 ? ERROR_WIDTH : 0,
			      .seconds = r->seconds.mean };
	for (size_t i = 0; i < all->nr_metrics; i++) {
		l->label = max(l->label, figure_width(all->metrics[i].label));
		l->unit = max(l->unit, figure_width(unit_of(&all->metrics[i], width)));
	}
	rest = INDENT + 1 + VALUE_WIDTH + 1 + 2 + VERDICT_MAX;
	l->unit = min(l->unit, MAX_UNIT);
	if (rest + MIN_LABEL + l->unit + l->error > width)
		l->error = 0;
	l->unit = min(l->unit, max(width - rest - MIN_LABEL, MIN_UNIT));
	l->label = min(l->label, width - rest - l->unit - l->error);
}

static void put_head(const struct stat_report *r, size_t width, FILE *out)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	fprintf(f, "stat: ");
	if (r->interval)
		fprintf(f, "every %s of %s", figure_seconds(r->seconds.mean), str(r->target));
	else if (nr_runs(r) > 1)
		fprintf(f, "%zu runs of %s (%s) of %s", nr_runs(r), figure_seconds(r->seconds.mean),
			figure_error(&r->seconds), str(r->target));
	else
		fprintf(f, "%s of %s", figure_seconds(r->seconds.mean), str(r->target));
	fclose(f);
	figure_wrap(text, 0, DETAIL, width, out);
	free(text);
}

static void put_environment(const struct stat_report *r, size_t width, FILE *out)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	fprintf(f, "%s (%s), %u CPU%s; Linux %s %s on %s", str(r->cpu), str(r->core_ident),
		r->nr_cpus, r->nr_cpus == 1 ? "" : "s", str(r->kernel), str(r->arch), str(r->host));
	if (r->counters)
		fprintf(f, "; %u programmable counter%s free", r->counters,
			r->counters == 1 ? "" : "s");
	fclose(f);
	figure_wrap(text, 0, DETAIL, width, out);
	free(text);
	for (size_t i = 0; i < r->nr_notes; i++) {
		fputs("- ", out);
		figure_wrap(r->notes[i], 2, 2, width, out);
	}
}

/* In the rest of the line where there is room behind column, else below. */
static void put_detail(const struct layout *l, size_t at, size_t column, const char *text,
		       FILE *out)
{
	if (*text && column + figure_width(text) <= l->width) {
		fprintf(out, "%*s", (int)(column - at), "");
		figure_wrap(text, column, DETAIL, l->width, out);
		return;
	}
	fputc('\n', out);
	if (!*text)
		return;
	fprintf(out, "%*s", DETAIL, "");
	figure_wrap(text, DETAIL, DETAIL + 2, l->width, out);
}

static void put_advice(const struct layout *l, const struct stat_row *row,
		       const struct stat_metric *m, FILE *out)
{
	char text[1024], threshold[160], diagnosis[256];

	if (m->verdict != METRIC_INVESTIGATE && m->verdict != METRIC_WATCH)
		return;
	figure_threshold(m, threshold, sizeof(threshold));
	stat_diagnosis(row, m, diagnosis, sizeof(diagnosis));
	snprintf(text, sizeof(text), "-> %s%s%s%s%s", threshold,
		 *threshold && (*diagnosis || *m->advice) ? ": " : "", diagnosis,
		 *diagnosis && *m->advice ? "; " : "", m->advice);
	fprintf(out, "%*s", DETAIL, "");
	figure_wrap(text, DETAIL, DETAIL + 3, l->width, out);
}

static void put_missing(const struct layout *l, const struct stat_metric *m, FILE *out)
{
	size_t at = INDENT + l->label + 1 + VALUE_WIDTH;
	char why[256];

	fprintf(out, " %*s", VALUE_WIDTH, "n/a");
	snprintf(why, sizeof(why), *m->why ? "(%s)" : "%s", m->why);
	put_detail(l, at, at + 1, why, out);
}

/* The verdict is marked when there is a warning about the number. */
static void put_metric(const struct layout *l, const struct stat_row *row,
		       const struct stat_metric *m, FILE *out)
{
	size_t at = INDENT + l->label + 1 + VALUE_WIDTH + 1 + l->unit + l->error + 2, end;
	const char *unit, *value = figure_scaled(m->number.mean, m->unit, &unit);
	bool more = (l->error && *figure_error(&m->number)) || *metric_verdict_key(m->verdict) ||
		    *m->why || *m->inputs;
	char verdict[32];

	fprintf(out, "%*s", INDENT, "");
	figure_fit(m->label, l->label, out);
	if (isnan(m->number.mean)) {
		put_missing(l, m, out);
		return;
	}
	fprintf(out, " %*s ", VALUE_WIDTH, value);
	unit = unit_of(m, l->width);
	figure_fit(unit, more ? l->unit : min(l->unit, figure_width(unit)), out);
	if (l->error && more)
		fprintf(out, " %*s", ERROR_WIDTH - 1, figure_error(&m->number));
	snprintf(verdict, sizeof(verdict), "%s%s", metric_verdict_key(m->verdict),
		 *m->why ? " (!)" : "");
	end = *verdict ? at + strlen(verdict) : at - 2;
	fprintf(out, "%s%s", *verdict ? "  " : "", verdict);
	put_detail(l, end, max(at + VERDICT_MAX, end) + 2, m->inputs, out);
	put_advice(l, row, m, out);
}

static void put_sets(const struct stat_report *r, const struct layout *l, FILE *out)
{
	const char *set = NULL;

	for (size_t i = 0; i < r->all.nr_metrics; i++) {
		const struct stat_metric *m = &r->all.metrics[i];

		if (!set || strcmp(set, m->set)) {
			fputc('\n', out);
			figure_wrap(m->set, 0, 0, l->width, out);
		}
		set = m->set;
		put_metric(l, &r->all, m, out);
	}
	if (set && !l->error && nr_runs(r) > 1)
		fputs("… 1 more column (--json has all)\n", out);
}

static const char *duty_of(const struct stat_event *e, char to[16])
{
	*to = '\0';
	if (e->count.state == COUNT_SCALED)
		snprintf(to, 16, "(%.2f%%)", count_duty_pct(&e->count));
	return to;
}

static void put_event(struct grid *g, const struct stat_event *e, double seconds)
{
	const char *unit, *value = figure_event(e, &unit);
	char duty[16];

	grid_row(g, STYLE_PLAIN, NULL);
	grid_cell(g, *unit ? "%s %s" : "%s", value, unit);
	grid_cell(g, "%s", e->name);
	grid_cell(g, "%s", duty_of(e, duty));
	grid_cell(g, "%s", figure_error(&e->number));
	grid_cell(g, "%s", figure_rate(e, seconds));
	grid_cell(g, "%s", e->meaning);
}

static void put_events(const struct stat_report *r, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "COUNT" },   { .head = "EVENT", .kind = GRID_TEXT, .min = MIN_LABEL },
		{ "DUTY", .rank = 3 }, { "ERROR", .rank = 2 },
		{ "RATE", .rank = 1 }, { "MEANING", GRID_TEXT, .rank = 4, .min = MIN_MEANING },
	};
	struct grid g;

	if (!r->all.nr_events)
		return;
	fputs("\nevents\n", out);
	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	g.bare = true;
	g.indent = INDENT;
	for (size_t i = 0; i < r->all.nr_events; i++)
		put_event(&g, &r->all.events[i], r->seconds.mean);
	grid_end(&g);
}

static void put_warning(bool *any, const char *about, const char *text, bool marked, size_t width,
			FILE *out)
{
	char line[1024];

	if (!*any)
		fputs("\nwarnings\n", out);
	*any = true;
	snprintf(line, sizeof(line), "%s%s: %s", marked ? "(!) " : "", about, text);
	fprintf(out, "%*s", INDENT, "");
	figure_wrap(line, INDENT, INDENT + 2, width, out);
}

/* "cycles, instructions": names of the events that is_one() picks. Empty when there are none. */
static void names_of(const struct stat_row *row,
		     bool (*is_one)(const struct stat_event *e, enum count_state state),
		     enum count_state state, char *to, size_t sz)
{
	size_t len = 0;

	*to = '\0';
	for (size_t i = 0; i < row->nr_events; i++) {
		if (!is_one(&row->events[i], state))
			continue;
		len += snprintf(to + len, sz - len, "%s%s", len ? ", " : "", row->events[i].name);
		if (len >= sz) {
			strcpy(to + sz - 4, "…");
			return;
		}
	}
}

static bool is_in_state(const struct stat_event *e, enum count_state state)
{
	return e->count.state == state;
}

static bool is_rough(const struct stat_event *e, enum count_state state)
{
	return e->count.state == state && count_duty_pct(&e->count) < ROUGH_DUTY;
}

/* Is it the first metric with this warning? */
static bool is_first_warning(const struct stat_row *row, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!isnan(row->metrics[j].number.mean) &&
		    !strcmp(row->metrics[j].why, row->metrics[i].why))
			return false;
	return true;
}

/* Labels of all metrics with that warning: "cycles per instruction, retiring". */
static void labels_of(const struct stat_row *row, size_t first, char *to, size_t sz)
{
	const char *last = "";
	size_t len = 0;

	*to = '\0';
	for (size_t i = first; i < row->nr_metrics && len < sz; i++) {
		const struct stat_metric *m = &row->metrics[i];

		if (isnan(m->number.mean) || strcmp(m->why, row->metrics[first].why) ||
		    !strcmp(m->label, last))
			continue;
		len += snprintf(to + len, sz - len, "%s%s", len ? ", " : "", m->label);
		last = m->label;
	}
}

static void put_metric_warnings(const struct stat_row *row, bool *any, size_t width, FILE *out)
{
	char labels[512];

	for (size_t i = 0; i < row->nr_metrics; i++) {
		const struct stat_metric *m = &row->metrics[i];

		if (isnan(m->number.mean) || !*m->why || !is_first_warning(row, i))
			continue;
		labels_of(row, i, labels, sizeof(labels));
		put_warning(any, labels, m->why, true, width, out);
	}
}

static void put_missing_events(const struct stat_row *row, bool *any, size_t width, FILE *out)
{
	for (size_t i = 0; i < row->nr_events; i++)
		if (*row->events[i].why)
			put_warning(any, "not available here", row->events[i].why, false, width,
				    out);
}

static void put_warnings(const struct stat_report *r, size_t width, FILE *out)
{
	char names[512];
	bool any = false;

	put_metric_warnings(&r->all, &any, width, out);
	put_missing_events(&r->all, &any, width, out);
	names_of(&r->all, is_rough, COUNT_SCALED, names, sizeof(names));
	if (*names)
		put_warning(&any, names, "counted less than 20 % of the time, so this is rough",
			    false, width, out);
	for (enum count_state state = 0; state < COUNT_NOT_AVAILABLE; state++) {
		names_of(&r->all, is_in_state, state, names, sizeof(names));
		if (*names && *figure_state(state))
			put_warning(&any, names, figure_state(state), false, width, out);
	}
}

int stat_write_text(const struct stat_report *r, FILE *out)
{
	size_t width = output_width(out);
	struct layout l;

	if (r->interval <= 1) {
		put_head(r, width, out);
		put_environment(r, width, out);
		if (r->interval)
			fputc('\n', out);
	}
	if (r->interval) {
		stat_put_line(r, out);
		if (r->by != STAT_BY_ALL)
			stat_put_rows(r, width, out);
		return 0;
	}
	layout_init(&l, r, width);
	if (r->filtered.name)
		fputs("\nall that ran on these CPUs; the selected rows follow below\n", out);
	put_sets(r, &l, out);
	put_events(r, out);
	if (r->by != STAT_BY_ALL)
		stat_put_rows(r, width, out);
	put_warnings(r, width, out);
	return 0;
}
