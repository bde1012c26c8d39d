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
#define DETAIL	    6 /* indent of what to do about a metric */
#define MIN_LABEL   16
#define MIN_UNIT    13 /* "per 1k instr." */
#define MIN_MEANING 32
#define WIDE	    100 /* columns, from where on units are spelled out */
#define ROUGH_DUTY  20	/* percent, below which a scaled count is a guess */

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

static void put_advice(struct grid *g, const struct stat_row *row, const struct stat_metric *m)
{
	char text[1024], threshold[160], diagnosis[256];

	if (m->verdict != METRIC_INVESTIGATE && m->verdict != METRIC_WATCH)
		return;
	figure_threshold(m, threshold, sizeof(threshold));
	stat_diagnosis(row, m, diagnosis, sizeof(diagnosis));
	snprintf(text, sizeof(text), "-> %s%s%s%s%s", threshold,
		 *threshold && (*diagnosis || *m->advice) ? ": " : "", diagnosis,
		 *diagnosis && *m->advice ? "; " : "", m->advice);
	grid_text(g, DETAIL, DETAIL + 3, text);
}

/* The verdict is marked when there is a warning about the number. */
static void put_metric(struct grid *g, const struct stat_row *row, const struct stat_metric *m)
{
	const char *unit, *value = figure_scaled(m->number.mean, m->unit, &unit);

	grid_row(g, STYLE_PLAIN, m->label, NULL);
	if (isnan(m->number.mean)) {
		grid_cell(g, "n/a");
		grid_cell(g, "%s", "");
		grid_cell(g, "%s", "");
		grid_cell(g, "%s", "");
		grid_cell(g, *m->why ? "(%s)" : "%s", m->why);
		return;
	}
	grid_cell(g, "%s", value);
	grid_cell(g, "%s", unit_of(m, g->width));
	grid_cell(g, "%s", figure_error(&m->number));
	grid_cell(g, "%s%s", metric_verdict_key(m->verdict), *m->why ? " (!)" : "");
	grid_cell(g, "%s", m->inputs);
	put_advice(g, row, m);
}

static void put_sets(const struct stat_report *r, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "METRIC", .kind = GRID_TEXT, .min = MIN_LABEL },
		{ .head = "VALUE" },
		{ .head = "UNIT", .kind = GRID_TEXT, .min = MIN_UNIT },
		{ .head = "ERROR", .rank = 1 },
		{ .head = "VERDICT", .kind = GRID_TEXT },
		{ .head = "FROM", .kind = GRID_REST },
	};
	const char *set = "";
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	g.bare = true;
	g.indent = INDENT;
	for (size_t i = 0; i < r->all.nr_metrics; i++) {
		const struct stat_metric *m = &r->all.metrics[i];

		if (strcmp(set, m->set) != 0) {
			grid_text(&g, 0, 0, "");
			grid_text(&g, 0, 0, m->set);
		}
		set = m->set;
		put_metric(&g, &r->all, m);
	}
	grid_end(&g);
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
	if (r->filtered.name)
		fputs("\nall that ran on these CPUs; the selected rows follow below\n", out);
	put_sets(r, out);
	put_events(r, out);
	if (r->by != STAT_BY_ALL)
		stat_put_rows(r, width, out);
	put_warnings(r, width, out);
	return 0;
}
