/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What changed between recordings, for people: a table of functions, then what to make of it. */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "output/changes.h"
#include "output/columns.h"
#include "output/figures.h"
#include "output/output.h"
#include "output/markup.h"

#define ROWS	  20
#define LEAST_PCT 0.1 /* less on both sides is shown to those who ask for rows */

static bool is_shown(const struct changes *c, const struct change *row, const struct view *v)
{
	return row->judged || v->rows || changes_pct(c, row->self[0], 0) >= LEAST_PCT ||
	       changes_pct(c, row->self[1], 1) >= LEAST_PCT;
}

static void put_head(const struct changes *c, size_t width, FILE *out)
{
	for (int side = 0; side < 2; side++) {
		char *text = changes_side_text(c, side);

		fprintf(out, "%s ", side ? "after  " : "before ");
		figure_fit(c->sides[side].name, figure_width(c->sides[side].name), out);
		fputs(": ", out);
		figure_wrap(text, 10 + figure_width(c->sides[side].name), 8, width, out);
		free(text);
	}
}

/* In points of percent, or what was recorded. */
static const char *difference(const struct changes *c, const struct change *row, char to[48])
{
	double off = changes_pct(c, row->self[1], 1) - changes_pct(c, row->self[0], 0);
	bool more = row->self[1] >= row->self[0];

	if (c->opts.absolute)
		snprintf(to, 48, "%s%s", more ? "+" : "-",
			 changes_value(c,
				       more ? row->self[1] - row->self[0]
					    : row->self[0] - row->self[1],
				       1));
	else
		snprintf(to, 48, "%+.2f", off);
	return to;
}

/* What a row is about. */
static const char *noun(const struct changes *c)
{
	return view_by_owner(c->by) ? "row" : "function";
}

static void put_row(struct grid *g, const struct changes *c, const struct change *row)
{
	char off[48];

	grid_row(g,
		 row->failed  ? STYLE_BAD
		 : !row->real ? STYLE_IDLE
			      : STYLE_PLAIN,
		 changes_value(c, row->self[0], 0), changes_value(c, row->self[1], 1),
		 difference(c, row, off), row->self[0] || row->self[1] ? changes_text(row) : "",
		 changes_verdict(c, row), changes_value(c, row->total[0], 0),
		 changes_value(c, row->total[1], 1), NULL);
	if (view_by_owner(c->by))
		grid_cell(g, "%s", c->tree->names.bytes + row->name);
	else
		columns_put_place(g, c->both, c->tree->names.bytes + row->name, row->module);
}

static void put_table(const struct changes *c, const struct view *v, FILE *out)
{
	static const struct grid_column columns[] = {
		{ .head = "BEFORE" },
		{ .head = "AFTER" },
		{ .head = "CHANGE", .rank = 1 },
		{ .head = "COST" },
		{ .head = "", .kind = GRID_TEXT },
		{ "TOTAL BEFORE", .rank = 2 },
		{ "TOTAL AFTER", .rank = 2 },
	};
	size_t max = v->rows ? v->rows : ROWS, nr = 0;
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	grid_whole(&g);
	if (view_by_owner(c->by))
		columns_add_owner(&g, c->by);
	else
		columns_add_place(&g);
	for (size_t i = 0; i < c->nr && nr < max; i++) {
		if (!is_shown(c, &c->v[i], v))
			continue;
		put_row(&g, c, &c->v[i]);
		nr++;
	}
	grid_end(&g);
	if (c->nr > nr)
		fprintf(out, "… %zu more: give a larger --rows\n", c->nr - nr);
}

/* What noise is taken to be, and what would tell more. */
static void put_noise(const struct changes *c, size_t width, FILE *out)
{
	char text[512];

	if (!c->noise_known && c->slices_known)
		snprintf(text, sizeof(text),
			 "Noise: within a recording shares vary by %.1f times as much as samples "
			 "alone would; how much runs differ, several recordings of a side show "
			 "(bpfprof diff A1 A2 A3 vs B1 B2 B3).",
			 sqrt(c->slice_dispersion));
	else if (c->noise_known && c->dispersion > 1.05)
		snprintf(text, sizeof(text),
			 "Noise: the recordings of a side differ by %.1f times as much as samples "
			 "alone would.",
			 sqrt(c->dispersion));
	else if (c->noise_known)
		snprintf(text, sizeof(text),
			 "Noise: the recordings of a side differ by no more than samples "
			 "alone would.");
	else
		snprintf(
			text, sizeof(text),
			"Noise is that of sampling alone: how much runs differ, several recordings "
			"of a side show (bpfprof diff A1 A2 A3 vs B1 B2 B3).");
	figure_wrap(text, 0, 0, width, out);
}

static void put_verdict(const struct changes *c, size_t width, FILE *out)
{
	if (!changes_all(c, 0) || !changes_all(c, 1)) {
		fprintf(out, "Nothing to compare: the recording %s is empty.\n",
			changes_all(c, 0) ? "after" : "before");
		return;
	}
	for (size_t i = 0; i < c->nr; i++) {
		char *text;

		if (!c->v[i].failed)
			continue;
		text = changes_sentence(c, &c->v[i]);
		fputs("REGRESSION ", out);
		figure_wrap(text, 11, 11, width, out);
		free(text);
	}
	if (changes_is_unjudged(c)) {
		fputs("NOT JUDGED ", out);
		figure_wrap(CHANGES_NOT_JUDGED, 11, 11, width, out);
	}
	if (!c->nr_real)
		fprintf(out, "No %s changed by more than noise.\n", noun(c));
	else
		fprintf(out, "%zu %s%s changed by more than noise.\n", c->nr_real, noun(c),
			c->nr_real == 1 ? "" : "s");
}

int changes_write_text(const struct changes *c, const struct view *v, FILE *out)
{
	size_t width = output_width(out);

	put_head(c, width, out);
	put_table(c, v, out);
	fputc('\n', out);
	put_verdict(c, width, out);
	put_noise(c, width, out);
	figure_wrap(
		view_by_owner(c->by)
			? c->opts.absolute
				  ? "BEFORE and AFTER are what was recorded."
				  : "BEFORE and AFTER are shares of their side; COST is what it "
				    "costs more or less, against all else."
		: c->opts.absolute
			? "BEFORE and AFTER are a function's own, TOTAL that with what it calls."
			: "BEFORE and AFTER are a function's own share of its side, TOTAL that "
			  "with what it calls; COST is what it costs more or less, against all "
			  "other code. Shares grow, too, when other code got faster: --absolute "
			  "compares what was recorded.",
		0, 0, width, out);
	columns_put_left_out(c->tree, out);
	return 0;
}

/* --- Markdown --- */

static void put_cells(const struct changes *c, const struct change *row, FILE *out)
{
	fputs("| ", out);
	markdown_put(c->tree->names.bytes + row->name, out);
	fprintf(out, " | %s | %s | %s | %s |\n", changes_value(c, row->self[0], 0),
		changes_value(c, row->self[1], 1), changes_text(row), changes_verdict(c, row));
}

#define MARKDOWN_HEAD "| %s | before | after | cost | |\n|---|---:|---:|---:|---|\n"

/* A comment for a pull request: what it comes to first, the table folded away below. */
int changes_write_markdown(const struct changes *c, const struct view *v, FILE *out)
{
	size_t max = v->rows ? v->rows : ROWS;
	if (changes_is_unjudged(c))
		fputs("### bpfprof: not judged, " CHANGES_NOT_JUDGED "\n\n", out);
	else if (c->nr_failed)
		fprintf(out, "### bpfprof: %zu %s%s got slower\n\n", c->nr_failed, noun(c),
			c->nr_failed == 1 ? "" : "s");
	else
		fprintf(out, "### bpfprof: %s\n\n",
			!c->nr_real	       ? "no change beyond noise"
			: view_by_owner(c->by) ? "something changed"
					       : "some functions changed");
	fprintf(out, MARKDOWN_HEAD, view_by_words[c->by]);
	for (size_t i = 0; i < c->nr; i++)
		if (c->v[i].real)
			put_cells(c, &c->v[i], out);
	fputs("\n<details><summary>All of them</summary>\n\n", out);
	fprintf(out, MARKDOWN_HEAD, view_by_words[c->by]);
	for (size_t i = 0; i < c->nr && i < max; i++)
		if (c->v[i].self[0] || c->v[i].self[1])
			put_cells(c, &c->v[i], out);
	fputs("\n</details>\n\n", out);
	for (int side = 0; side < 2; side++) {
		char *text = changes_side_text(c, side);

		fprintf(out, "%s%s: ", side ? "; " : "", side ? "after" : "Before");
		markdown_put(text, out);
		free(text);
	}
	fputs(".\n", out);
	return 0;
}
