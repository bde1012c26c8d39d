/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Allocations by who asked for them: what is in use first, if that was asked for. */
#include "output/allocations.h"

#include "base/text.h"
#include "output/columns.h"
#include "output/grid.h"
#include "output/output.h"
#include "output/style.h"
#include "profile/allocations.h"

static const struct grid_column in_use[] = {
	{ "IN USE", .rank = 0 },
	{ "SHARE", .rank = 4 },
	{ "±", .rank = 2 },
	{ "OBJECTS", .rank = 3 },
	{ "ALLOCATED", .rank = 5 },
	{ "FUNCTION", GRID_FUNCTION, .min = 20 },
	{ "CALLED BY", GRID_TEXT, .rank = 1, .min = 22 },
	{ "MODULE", GRID_TEXT, .rank = 6, .min = 8 },
};
static const struct grid_column allocated[] = {
	{ "ALLOCATED", .rank = 0 },
	{ "SHARE", .rank = 4 },
	{ "±", .rank = 2 },
	{ "OBJECTS", .rank = 3 },
	{ "FUNCTION", GRID_FUNCTION, .min = 20 },
	{ "CALLED BY", GRID_TEXT, .rank = 1, .min = 22 },
	{ "MODULE", GRID_TEXT, .rank = 6, .min = 8 },
};

static void put_value(struct grid *g, const struct allocations *a, const struct allocations_row *r,
		      enum allocations_value bytes)
{
	uint64_t all = a->all.value[a->by];

	grid_cell(g, "%s", r->value[bytes] ? text_bytes(r->value[bytes]) : "-");
	grid_cell(g, "%s", text_pct(all ? 100.0 * r->value[a->by] / all : 0));
	grid_cell(g, r->value[bytes] ? "%.*f%%" : "", allocations_error(r, bytes) < 0.095,
		  100 * allocations_error(r, bytes));
	grid_cell(g, "%s", r->value[bytes + 1] ? text_count(r->value[bytes + 1]) : "-");
}

static void put_row(struct grid *g, const struct profile *p, const struct allocations *a,
		    const struct allocations_row *r)
{
	bool live = a->has[ALLOCATIONS_IN_USE];

	grid_row(g, STYLE_PLAIN, NULL);
	put_value(g, a, r, live ? ALLOCATIONS_IN_USE : ALLOCATIONS_BYTES);
	if (live)
		grid_cell(g, "%s", text_bytes(r->value[ALLOCATIONS_BYTES]));
	grid_cell(g, "%s", r->function);
	grid_cell(g, "%s", r->callers);
	grid_cell(g, "%s", output_base_name(profile_str(p, p->modules[r->module].path)));
}

void allocations_put(const struct profile *p, const struct view *v, FILE *out)
{
	struct allocations a;
	struct grid g;
	size_t nr = 0; /* rows that have some of what is shown */

	allocations_init(&a, p, v);
	if (a.has[ALLOCATIONS_IN_USE])
		grid_init(&g, out, in_use, sizeof(in_use) / sizeof(*in_use));
	else
		grid_init(&g, out, allocated, sizeof(allocated) / sizeof(*allocated));
	while (nr < a.nr && a.rows[nr].value[a.by])
		nr++;
	for (size_t i = 0; i < nr && i < VALUED_FUNCTIONS; i++)
		put_row(&g, p, &a, &a.rows[i]);
	grid_end(&g);
	if (nr > VALUED_FUNCTIONS)
		fprintf(out, "… %zu more\n", nr - VALUED_FUNCTIONS);
	if (nr)
		fprintf(out, "± by chance, at most, in 95 of 100 recordings (--every)\n");
	columns_put_left_out(a.values.trees[view_event(v, p)], out);
	allocations_release(&a);
}

static void put_missed(const struct profile *p, enum prof_counter counter, FILE *out)
{
	if (!p->counters[counter])
		return;
	style_put(out, STYLE_BAD);
	fprintf(out, "  %13s NOT IN USE: %s", text_count(p->counters[counter]),
		profile_counters[counter].text);
	style_put(out, STYLE_PLAIN);
	fputc('\n', out);
}

void allocations_put_missed(const struct profile *p, FILE *out)
{
	put_missed(p, PROF_LIVE_FULL, out);
	put_missed(p, PROF_LIVE_MISSED, out);
}
