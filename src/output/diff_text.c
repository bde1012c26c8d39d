/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two reports side by side, for people: each change with its interval, then what the rules say. */
#include "output/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "output/figures.h"
#include "output/grid.h"
#include "output/output.h"
#include "output/stat.h"

#define WIDE 110 /* columns, from where on counts are shown in full */

static const char *str(const char *s)
{
	return s ? s : "";
}

/* "+5.4 %", "from 0", "n/a". To a ring of static buffers. */
static const char *change_of(const struct diff_row *row)
{
	static char bufs[8][32];
	static unsigned int i;
	char *to = bufs[i++ % 8];
	double pct = row->change_pct;

	if (!row->known)
		return "n/a";
	if (isnan(pct))
		return "from 0";
	if (fabs(pct) >= 1e5)
		snprintf(to, sizeof(*bufs), "%+.1e %%", pct);
	else
		snprintf(to, sizeof(*bufs), fabs(pct) < 9.995 ? "%+.2f %%" : "%+.1f %%", pct);
	return to;
}

static const char *missing_in(const struct diff *c, const struct diff_row *row)
{
	if (isnan(row->a) && isnan(row->b))
		return "either result";
	return isnan(row->a) ? c->name_a : c->name_b;
}

void diff_sentence(const struct diff *c, const struct diff_row *row, char *to, size_t sz)
{
	char rule[300] = "";

	if (row->rule)
		diff_rule_text(row->rule, rule, sizeof(rule));
	if (!row->known) {
		snprintf(to, sz, "%s%snot evaluated: '%s' is missing from %s", rule,
			 *rule ? " " : "", row->name, missing_in(c, row));
		return;
	}
	snprintf(to, sz, "%s: %s%s%s to %s%s%s, %s%s%s%s", row->name, figure_four(row->a),
		 *row->unit ? " " : "", row->unit, figure_four(row->b), *row->unit ? " " : "",
		 row->unit, change_of(row),
		 !row->noise_known		 ? " (noise not known: a single run)"
		 : row->real || row->a == row->b ? ""
						 : " (within the noise of the repeats)",
		 row->failed ? ", fails "
		 : *rule     ? ", passes "
			     : "",
		 rule);
}

/* Is there a row that both have, but not by repeats? */
static bool lacks_noise(const struct diff *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i].known && !c->v[i].noise_known)
			return true;
	return false;
}

/* To free(). */
static char *host_of(const struct stat_report *r)
{
	return xasprintf("%s, %u CPU%s, Linux %s", str(r->cpu), r->nr_cpus,
			 r->nr_cpus == 1 ? "" : "s", str(r->kernel));
}

static bool same_host(const struct diff *c)
{
	return !strcmp(str(c->a->cpu), str(c->b->cpu)) && c->a->nr_cpus == c->b->nr_cpus &&
	       !strcmp(str(c->a->kernel), str(c->b->kernel));
}

static void put_side(const struct diff *c, char letter, const char *name,
		     const struct stat_report *r, size_t width, FILE *out)
{
	size_t nr = stat_number_nr(&r->seconds);
	time_t start = (time_t)(r->start_real_ns / 1000000000);
	char *text, *host = same_host(c) ? xstrdup("") : host_of(r), when[32] = "";
	struct tm tm;

	if (r->start_real_ns && localtime_r(&start, &tm))
		strftime(when, sizeof(when), ", %Y-%m-%d %H:%M", &tm);
	text = xasprintf("%s%s%zu run%s of %s%s%s%s", strlen(name) > 1 ? name : "",
			 strlen(name) > 1 ? ": " : "", nr, nr == 1 ? "" : "s", str(r->target), when,
			 *host ? "; " : "", host);
	fprintf(out, "%c  ", letter);
	figure_wrap(text, 3, 3, width, out);
	free(text);
	free(host);
}

static void put_head(const struct diff *c, size_t width, FILE *out)
{
	char *host = host_of(c->a);

	put_side(c, 'A', c->name_a, c->a, width, out);
	put_side(c, 'B', c->name_b, c->b, width, out);
	if (same_host(c)) {
		fputs("   ", out);
		figure_wrap(host, 3, 3, width, out);
	}
	free(host);
}

static const char *verdict(const struct diff_row *row)
{
	if (!row->known)
		return row->rule ? "MISSING" : "";
	if (row->failed)
		return "REGRESSION";
	if (row->rule)
		return "ok";
	if (!row->noise_known)
		return "";
	return row->real ? "changed" : row->a == row->b ? "same" : "noise";
}

static const char *interval(const struct diff_row *row, char to[32])
{
	if (!row->known)
		return !isnan(row->a) ? "not in B" : isnan(row->b) ? "in neither" : "not in A";
	if (!row->noise_known)
		return "one run";
	if (isnan(row->low_pct))
		return "";
	snprintf(to, 32,
		 fabs(row->low_pct) + fabs(row->high_pct) < 200 ? "%+.2f to %+.2f"
								: "%+.0f to %+.0f",
		 row->low_pct, row->high_pct);
	return to;
}

/* By the name that rules use; with what it means where there is room. */
static char *label_of(const struct diff_row *row, bool wide)
{
	const char *comma = *row->unit ? ", " : "";

	if (wide && strcmp(row->name, row->label))
		return xasprintf("%s (%s%s%s)", row->name, row->label, comma, row->unit);
	return xasprintf("%s%s%s", row->name, comma, *row->unit == '%' ? "%" : row->unit);
}

static const char *number(double x, bool wide)
{
	if (isnan(x))
		return "-";
	return wide || fabs(x) < 1000 ? figure_four(x) : figure_short(x);
}

static void put_row(struct grid *g, const struct diff_row *row, bool wide)
{
	char *label = label_of(row, wide), buf[32];

	grid_row(g,
		 row->failed		    ? STYLE_BAD
		 : row->rule && !row->known ? STYLE_WARNING
					    : STYLE_PLAIN,
		 label, number(row->a, wide), number(row->b, wide), change_of(row),
		 interval(row, buf), verdict(row), NULL);
	free(label);
}

/* Nobody asked for it, and there is nothing to see. */
static bool is_void(const struct diff_row *row)
{
	return isnan(row->a) && isnan(row->b) && !row->rule;
}

static void put_table(const struct diff *c, size_t width, FILE *out)
{
	static const struct grid_column columns[] = {
		{ "", GRID_TEXT, .min = 16 },
		{ "A", .rank = 1 },
		{ "B", .rank = 1 },
		{ .head = "CHANGE" },
		{ "95 % INTERVAL", .rank = 2 },
		{ .head = "", .kind = GRID_TEXT },
	};
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < c->nr; i++)
		if (!is_void(&c->v[i]))
			put_row(&g, &c->v[i], width >= WIDE);
	grid_end(&g);
}

static void put_voids(const struct diff *c, size_t width, FILE *out)
{
	char *text = NULL;
	size_t len, nr = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	for (size_t i = 0; i < c->nr; i++)
		if (is_void(&c->v[i]))
			fprintf(f, "%s %s", nr++ ? "," : "No number in either:", c->v[i].name);
	fclose(f);
	if (nr)
		figure_wrap(text, 0, 2, width, out);
	free(text);
}

/* Worst first: what fails, what cannot be judged, what passes. */
static void put_rules(const struct diff *c, size_t width, FILE *out)
{
	static const char *const heads[] = { "REGRESSION ", "MISSING    ", "ok         " };
	char text[1024];

	for (int kind = 0; kind < 3; kind++) {
		for (size_t i = 0; i < c->nr; i++) {
			const struct diff_row *row = &c->v[i];

			if (!row->rule || kind != (row->failed ? 0 : !row->known ? 1 : 2))
				continue;
			diff_sentence(c, row, text, sizeof(text));
			fputs(heads[kind], out);
			figure_wrap(text, strlen(heads[kind]), strlen(heads[kind]), width, out);
		}
	}
}

static bool has_rules(const struct diff *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i].rule)
			return true;
	return false;
}

int diff_write_text(const struct diff *c, FILE *out)
{
	size_t width = output_width(out);

	put_head(c, width, out);
	put_table(c, width, out);
	fputc('\n', out);
	put_rules(c, width, out);
	if (has_rules(c))
		fputc('\n', out);
	put_voids(c, width, out);
	figure_wrap("Changes are relative to A, also those of percentages.", 0, 0, width, out);
	if (!lacks_noise(c))
		return 0;
	figure_wrap(has_rules(c)
			    ? "A single run on a side says nothing about noise, so there the "
			      "threshold alone decides: 'bpfprof stat -r 5' repeats."
			    : "A single run on a side says nothing about noise, so there it is "
			      "open which changes are real: 'bpfprof stat -r 5' repeats.",
		    0, 0, width, out);
	return 0;
}
