/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Branches that were recorded with samples: a table of those that are mispredicted most, and folded
 * lines "from;to count" of all of them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/grid.h"
#include "output/output.h"
#include "profile/branches.h"

#define MAX_ROWS 40

static void put_row(struct grid *g, const struct branches_row *row)
{
	double pct = branches_mispredicted_pct(row), cycles = branches_cycles(row);

	grid_row(g, STYLE_PLAIN, text_count(row->mispredicted), NULL);
	grid_cell(g, isnan(pct) ? "n/a" : "%.1f%%", pct);
	grid_cell(g, "%s", text_count(row->count));
	grid_cell(g, isnan(cycles) ? "n/a" : "%.1f", cycles);
	grid_cell(g, "%s", row->from);
	grid_cell(g, "%s", row->to);
}

static void put_sum(const struct profile *p, const struct branches *b, FILE *out)
{
	fprintf(out, "%s branch records; ", text_count(b->all.count));
	if (isnan(branches_mispredicted_pct(&b->all)))
		fputs("the hardware does not say which were mispredicted\n", out);
	else
		fprintf(out, "%s mispredicted\n", text_pct(branches_mispredicted_pct(&b->all)));
	if (b->all.untold && b->all.untold < b->all.count)
		fprintf(out, "  %s of them do not say whether they were predicted\n",
			text_count(b->all.untold));
	if (p->counters[PROF_BRANCHES_LOST])
		fprintf(out, "  LOST %s more: no room in a table (raise --max-stacks)\n",
			text_count(p->counters[PROF_BRANCHES_LOST]));
}

int branched_write(const struct profile *p, const struct view *v, FILE *out)
{
	static const struct grid_column columns[] = {
		{ "MISSED", .rank = 1 },
		{ "RATE", .rank = 2 },
		{ "TAKEN", .rank = 3 },
		{ "CYCLES", .rank = 4 },
		{ "FROM", GRID_FUNCTION, .min = 18 },
		{ "TO", GRID_FUNCTION, .min = 18 },
	};
	struct branches b;
	struct grid g;

	branches_init(&b, p, v);
	put_sum(p, &b, out);
	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < b.nr && i < MAX_ROWS; i++)
		put_row(&g, &b.rows[i]);
	grid_end(&g);
	if (b.nr > MAX_ROWS)
		fprintf(out, "… %zu more\n", b.nr - MAX_ROWS);
	branches_release(&b);
	return 0;
}

static int by_count(const void *x, const void *y)
{
	const struct branches_row *a = x, *b = y;
	int order = strcmp(a->from, b->from);

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return order ? order : strcmp(a->to, b->to);
}

int branched_write_folded(const struct profile *p, const struct view *v, FILE *out)
{
	struct branches b;

	branches_init(&b, p, v);
	if (b.nr)
		qsort(b.rows, b.nr, sizeof(*b.rows), by_count);
	for (size_t i = 0; i < b.nr; i++)
		fprintf(out, "%s;%s %" PRIu64 "\n", b.rows[i].from, b.rows[i].to, b.rows[i].count);
	branches_release(&b);
	return 0;
}
