/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The latest run beside those before it, and where numbers changed for good. */
#include "output/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/figures.h"
#include "output/grid.h"
#include "output/json_put.h"
#include "output/output.h"

#define TREND 16 /* runs that the small picture has at most */

static bool is_unusual(const struct history *h, const struct history_series *s)
{
	return s->unusual[h->nr_runs - 1];
}

static double weight_of(const struct history *h, const struct history_series *s)
{
	return s->failed ? INFINITY : isnan(s->z) ? -1 : fabs(s->z);
}

static int by_weight(const void *x, const void *y, void *arg)
{
	const struct history_series *a = *(const struct history_series *const *)x,
				    *b = *(const struct history_series *const *)y;
	double of_a = weight_of(arg, a), of_b = weight_of(arg, b);

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* In local time, which is what people who look for a change think in. */
static const char *when(double start_s, char to[32])
{
	time_t t = start_s;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(to, 32, "%Y-%m-%d %H:%M", &tm))
		snprintf(to, 32, "%.0f", start_s);
	return to;
}

/* "2026-11-20 14:00, v1.2" */
static char *run_text(const struct history_run *r)
{
	char buf[32];

	return *r->label ? xasprintf("%s, %s", when(r->start_s, buf), r->label)
			 : xstrdup(when(r->start_s, buf));
}

/* Its latest runs from the least to the most of them; a gap where a run has no number. */
static void put_trend(const struct history *h, const struct history_series *s, char *to)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	size_t first = h->nr_runs > TREND ? h->nr_runs - TREND : 0;
	double least = INFINITY, most = -INFINITY, part;

	for (size_t i = first; i < h->nr_runs; i++) {
		least = fmin(least, s->v[i]);
		most = fmax(most, s->v[i]);
	}
	*to = 0;
	for (size_t i = first; i < h->nr_runs; i++) {
		part = most > least ? (s->v[i] - least) / (most - least) : 0.5;
		strcat(to, isnan(s->v[i]) ? " " : blocks[(int)(part * 7 + 0.5)]);
	}
}

static const char *verdict(const struct history *h, const struct history_series *s)
{
	if (s->failed)
		return "REGRESSION";
	if (isnan(s->latest))
		return "not in the latest run";
	if (isnan(s->z))
		return "too few runs";
	return is_unusual(h, s) ? "unusual" : "";
}

static const char *number(double x)
{
	return isnan(x) ? "-" : fabs(x) < 1000 ? figure_four(x) : figure_short(x);
}

static void put_row(struct grid *g, const struct history *h, const struct history_series *s)
{
	char *name = xasprintf("%s%s%s", s->name, *s->unit ? ", " : "", s->unit);
	char change[32] = "-", z[32] = "-", trend[TREND * 4 + 1];

	if (isfinite(s->change_pct))
		snprintf(change, sizeof(change), "%+.1f%%", s->change_pct);
	else if (!isnan(s->change_pct))
		snprintf(change, sizeof(change), "from 0");
	if (!isnan(s->z))
		snprintf(z, sizeof(z),
			 fabs(s->z) < 1e4   ? "%+.1f"
			 : fabs(s->z) < 1e8 ? "%+.0f"
					    : "%+.0e",
			 s->z);
	put_trend(h, s, trend);
	grid_row(g, s->failed || is_unusual(h, s) ? STYLE_BAD : STYLE_PLAIN, name,
		 number(s->latest), number(s->mean), change, z, trend, verdict(h, s), NULL);
	free(name);
}

static void put_table(const struct history *h, FILE *out)
{
	static const struct grid_column columns[] = {
		{ "", GRID_TEXT, .min = 16 },
		{ .head = "LATEST" },
		{ "MEAN", .rank = 1 },
		{ .head = "CHANGE" },
		{ .head = "Z" },
		{ "TREND", GRID_TEXT, .rank = 2 },
		{ .head = "", .kind = GRID_TEXT },
	};
	const struct history_series **order = xcalloc(h->nr + 1, sizeof(*order));
	struct grid g;

	for (size_t i = 0; i < h->nr; i++)
		order[i] = &h->v[i];
	qsort_r(order, h->nr, sizeof(*order), by_weight, (void *)h);
	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < h->nr; i++)
		put_row(&g, h, order[i]);
	grid_end(&g);
	free(order);
}

static void put_head(const struct history *h, size_t width, FILE *out)
{
	const struct history_run *latest = &h->runs[h->nr_runs - 1];
	char *run = run_text(latest), first[32], *text;
	const char *target = latest->target + (strncmp(latest->target, "-- ", 3) ? 0 : 3);

	text = xasprintf("%zu run%s%s%s since %s; the latest: %s", h->nr_runs,
			 h->nr_runs == 1 ? "" : "s", *target ? " of " : "", target,
			 when(h->runs[0].start_s, first), run);
	figure_wrap(text, 0, 2, width, out);
	free(text);
	free(run);
	if (h->nr_other)
		fprintf(out, "%zu run%s of other targets or CPU models left out\n", h->nr_other,
			h->nr_other == 1 ? "" : "s");
}

/* The last change for good of each number, and how many there were before. */
static size_t put_steps(const struct history *h, size_t width, FILE *out)
{
	size_t nr = 0;

	for (size_t i = 0; i < h->nr; i++) {
		const struct history_series *s = &h->v[i];
		const struct history_step *last = s->steps + s->nr_steps - 1;
		char *run, *text, more[48] = "", change[32] = "";

		if (!s->nr_steps)
			continue;
		run = run_text(&h->runs[last->run]);
		if (last->before)
			snprintf(change, sizeof(change), " (%+.1f%%)",
				 100 * (last->after - last->before) / fabs(last->before));
		if (s->nr_steps > 1)
			snprintf(more, sizeof(more), "; %zu step%s before that", s->nr_steps - 1,
				 s->nr_steps == 2 ? "" : "s");
		text = xasprintf("%s: %s to %s%s, since %s%s", s->name, number(last->before),
				 number(last->after), change, run, more);
		fputs("STEP ", out);
		figure_wrap(text, 5, 5, width, out);
		free(text);
		free(run);
		nr++;
	}
	return nr;
}

static char *window_text(const struct history *h)
{
	double s = h->opts.window_s;

	if (h->opts.window)
		return xasprintf("up to %zu runs before it", h->opts.window);
	if (s >= 86400)
		return xasprintf("the runs of the %.10g days before it", s / 86400);
	return xasprintf("the runs of the %.10g hours before it", s / 3600);
}

int history_write_text(const struct history *h, FILE *out)
{
	size_t width = output_width(out);
	char *window = window_text(h), *text;

	put_head(h, width, out);
	put_table(h, out);
	fputc('\n', out);
	if (put_steps(h, width, out))
		fputc('\n', out);
	text = xasprintf("MEAN is that of %s, since the last step and without unusual ones; Z is "
			 "how many of their standard deviations the latest one is off. Unusual is "
			 "what is as unlikely as %.3g of them.",
			 window, h->opts.sigma);
	figure_wrap(text, 0, 0, width, out);
	free(window);
	free(text);
	return 0;
}

/* --- JSON --- */

static struct json_object *run_json(const struct history_run *r)
{
	struct json_object *o = json_object_new_object();

	json_put_number(o, "start_s", r->start_s);
	json_object_object_add(o, "label", json_text(r->label));
	json_object_object_add(o, "host", json_text(r->host));
	return o;
}

static struct json_object *exact_or_null(double x)
{
	return isfinite(x) ? json_object_new_double_s(x, figure_exact(x)) : NULL;
}

static struct json_object *steps_json(const struct history_series *s)
{
	struct json_object *list = json_object_new_array(), *o;

	for (size_t i = 0; i < s->nr_steps; i++) {
		o = json_object_new_object();
		json_put_count(o, "run", s->steps[i].run);
		json_object_object_add(o, "before", exact_or_null(s->steps[i].before));
		json_object_object_add(o, "after", exact_or_null(s->steps[i].after));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *series_json(const struct history *h, const struct history_series *s)
{
	struct json_object *o = json_object_new_object(), *values = json_object_new_array(),
			   *unusual = json_object_new_array();

	json_object_object_add(o, "kind", json_text(s->kind));
	json_object_object_add(o, "name", json_text(s->name));
	json_object_object_add(o, "unit", json_text(s->unit));
	for (size_t i = 0; i < h->nr_runs; i++) {
		json_object_array_add(values, exact_or_null(s->v[i]));
		if (s->unusual[i])
			json_object_array_add(unusual, json_object_new_int64(i));
	}
	json_object_object_add(o, "values", values);
	json_object_object_add(o, "unusual_runs", unusual);
	json_object_object_add(o, "steps", steps_json(s));
	json_object_object_add(o, "latest", exact_or_null(s->latest));
	json_put_count(o, "compared_with", s->nr);
	json_object_object_add(o, "mean", exact_or_null(s->mean));
	json_object_object_add(o, "deviation", exact_or_null(s->deviation));
	json_object_object_add(o, "z", exact_or_null(s->z));
	json_object_object_add(o, "change_pct", exact_or_null(s->change_pct));
	json_object_object_add(o, "unusual", json_object_new_boolean(is_unusual(h, s)));
	json_object_object_add(o, "failed", json_object_new_boolean(s->failed));
	return o;
}

int history_write_json(const struct history *h, FILE *out)
{
	struct json_object *o = json_document("bpfprof-history"), *runs = json_object_new_array(),
			   *rows = json_object_new_array();

	json_object_object_add(o, "target", json_text(h->runs[h->nr_runs - 1].target));
	json_object_object_add(o, "cpu", json_text(h->runs[h->nr_runs - 1].cpu));
	json_put_count(o, "other_runs", h->nr_other);
	json_put_number(o, "sigma", h->opts.sigma);
	for (size_t i = 0; i < h->nr_runs; i++)
		json_object_array_add(runs, run_json(&h->runs[i]));
	json_object_object_add(o, "runs", runs);
	for (size_t i = 0; i < h->nr; i++)
		json_object_array_add(rows, series_json(h, &h->v[i]));
	json_object_object_add(o, "rows", rows);
	json_put_count(o, "failed", h->nr_failed);
	json_print(o, true, out);
	return 0;
}
