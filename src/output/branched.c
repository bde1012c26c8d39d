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
#include "output/output.h"
#include "profile/branches.h"

#define MAX_ROWS 40

static void put_number(FILE *out, int width, double x, const char *unit)
{
	if (isnan(x))
		fprintf(out, "%*s%*s", width, "n/a", (int)strlen(unit), "");
	else
		fprintf(out, "%*.1f%s", width, x, unit);
}

static void put_row(const struct branches_row *row, size_t width, FILE *out)
{
	fprintf(out, "%11s ", text_count(row->mispredicted));
	put_number(out, 6, branches_mispredicted_pct(row), "%");
	fprintf(out, " %11s ", text_count(row->count));
	put_number(out, 7, branches_cycles(row), "");
	fputs("  ", out);
	text_fit(out, row->from, width, 1);
	fputs("  ", out);
	text_fit(out, row->to, width, 0);
	fputc('\n', out);
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
	size_t width = (output_width(out) - 43) / 2;
	struct branches b;

	branches_init(&b, p, v);
	put_sum(p, &b, out);
	if (b.nr) {
		fputs("\n    MISSED    RATE       TAKEN  CYCLES  ", out);
		text_fit(out, "FROM", width, 1);
		fputs("  TO\n", out);
	}
	for (size_t i = 0; i < b.nr && i < MAX_ROWS; i++)
		put_row(&b.rows[i], width, out);
	if (b.nr > MAX_ROWS)
		fprintf(out, "  … %zu more\n", b.nr - MAX_ROWS);
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
