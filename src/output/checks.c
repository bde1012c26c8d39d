/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of doctor for people: a table, then for each row that is not ok what follows and helps. */
#include <string.h>

#include "output/checks.h"
#include "output/figures.h"
#include "output/grid.h"
#include "output/output.h"

static const struct {
	const char *text;
	enum style style;
} states[CHECKS_NR_STATES] = {
	[CHECKS_OK] = { "ok", STYLE_PLAIN },
	[CHECKS_LIMITED] = { "limited", STYLE_WARNING },
	[CHECKS_MISSING] = { "MISSING", STYLE_BAD },
};

const char *checks_state_text(enum checks_state state)
{
	static const char *const texts[] = { "ok", "limited", "missing" };

	return texts[state];
}

static void put_table(const struct checks_report *r, FILE *out)
{
	static const struct grid_column columns[] = {
		{ "GROUP", GRID_TEXT, .rank = 2 },	     { "CHECK", GRID_TEXT, .rank = 0 },
		{ "STATE", GRID_TEXT, .rank = 0 },	     { "FOUND", GRID_TEXT, .min = 16 },
		{ "FROM", GRID_TEXT, .rank = 1, .min = 16 },
	};
	const char *group = "";
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	g.first = true;
	grid_whole(&g);
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct checks_row *row = &r->rows[i];

		grid_row(&g, states[row->state].style, strcmp(row->group, group) ? row->group : "",
			 row->name, states[row->state].text, row->found, r->verbose ? row->how : "",
			 NULL);
		group = row->group;
	}
	grid_end(&g);
}

/* "name: consequence" and below it, further in, the remedy. */
static void put_advice(const struct checks_row *row, FILE *out)
{
	size_t width = output_width(out);

	style_put(out, states[row->state].style);
	fputs(row->name, out);
	style_put(out, STYLE_PLAIN);
	fputs(": ", out);
	figure_wrap(row->consequence, strlen(row->name) + 2, 4, width, out);
	fputs("  > ", out);
	figure_wrap(row->remedy, 4, 4, width, out);
}

/* One cause may be behind several rows. */
static bool is_told(const struct checks_report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (r->rows[k].consequence &&
		    !strcmp(r->rows[k].consequence, r->rows[i].consequence))
			return true;
	return false;
}

static void put_advices(const struct checks_report *r, enum checks_state state, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < r->nr_rows; i++) {
		if (r->rows[i].state != state || is_told(r, i))
			continue;
		if (!any)
			fputc('\n', out);
		any = true;
		put_advice(&r->rows[i], out);
	}
}

static void put_sum(const struct checks_report *r, FILE *out)
{
	size_t nr[CHECKS_NR_STATES] = {};
	const char *who = r->command ? r->command : "bpfprof";

	for (size_t i = 0; i < r->nr_rows; i++)
		nr[r->rows[i].state]++;
	fprintf(out, "\n%zu ok, %zu limited, %zu missing: ", nr[CHECKS_OK], nr[CHECKS_LIMITED],
		nr[CHECKS_MISSING]);
	if (nr[CHECKS_MISSING])
		fprintf(out, "%s cannot run as it is now.\n", who);
	else
		fprintf(out, "%s can run here.\n", who);
}

int checks_write_text(const struct checks_report *r, FILE *out)
{
	put_table(r, out);
	put_advices(r, CHECKS_MISSING, out);
	put_advices(r, CHECKS_LIMITED, out);
	put_sum(r, out);
	return 0;
}
