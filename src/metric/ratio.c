/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both sides of a plain ratio. */
#include "metric/ratio.h"

#include <math.h>
#include <string.h>

#include "metric/formula.h"

/* One side of the line: events added up. */
struct side {
	const struct stat_event *first;
	double sum; /* NAN: one of them is not there */
	bool misses, instructions, cycles;
};

static bool has_any(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

static void classify(struct side *side, const char *name)
{
	static const char *const misses[] = { "miss", "refill", "walk", NULL };
	static const char *const instructions[] = { "inst_retired", "inst_spec", NULL };
	static const char *const cycles[] = { "cycles", "slots", "clk_unhalted", NULL };

	side->misses = side->misses || has_any(name, misses);
	/* "mem_inst_retired.all_loads" are loads. */
	side->instructions = side->instructions || stat_name_equal(name, "instructions") ||
			     (has_any(name, instructions) && !strchr(name, '.'));
	side->cycles = side->cycles || has_any(name, cycles);
}

static struct side read_side(const struct stat_row *row, const struct formula_sum *sum)
{
	struct side side = {};
	const struct stat_event *e;

	for (size_t i = 0; i < sum->nr; i++) {
		e = stat_row_event(row, sum->names[i]);
		classify(&side, sum->names[i]);
		side.sum += e ? stat_event_value(e) : NAN;
		side.first = side.first ? side.first : e;
	}
	return side;
}

/* What Sapphire Rapids and later count the same slots by; Ice Lake has the first as well. */
static const struct {
	const char *metric, *ordinary;
} slot_events[] = {
	{ "topdown_retiring", "uops_retired.slots" },
	{ "topdown_be_bound", "topdown.backend_bound_slots" },
	{ "topdown_mem_bound", "topdown.memory_bound_slots" },
	{ "topdown_br_mispredict", "topdown.br_mispredict_slots" },
	{ "topdown_heavy_ops", "uops_retired.heavy" },
};

static const char *sample_of(const struct stat_row *row, const struct stat_event *e)
{
	/* Of Atoms, which have no slots, topdown-* are ordinary events. */
	if (strncasecmp(e->name, "topdown", 7) || !strchr("-_", e->name[7]) ||
	    !stat_row_event(row, "slots"))
		return e->name;
	/* The formulas of every core whose events we have a table of take this one. */
	if (!stat_row_event(row, "int_misc.uop_dropping"))
		return NULL;
	for (size_t i = 0; i < sizeof(slot_events) / sizeof(*slot_events); i++)
		if (stat_name_equal(slot_events[i].metric, e->name))
			return slot_events[i].ordinary;
	return NULL;
}

struct ratio ratio_of(const struct stat_row *row, const struct stat_metric *m)
{
	struct ratio ratio = { .misses = NAN, .accesses = NAN };
	struct formula formula;
	struct formula_ratio parts;
	struct side above, below;

	if (!formula_parse(&formula, m->formula, NULL) || !formula_ratio(&formula, &parts) ||
	    (parts.factor != 100 && parts.factor != 1000))
		return ratio;
	above = read_side(row, &parts.above);
	below = read_side(row, &parts.below);
	ratio.event = above.first;
	ratio.sample = ratio.event ? sample_of(row, ratio.event) : NULL;
	if (!above.misses || below.cycles)
		return ratio;
	ratio.misses = above.sum;
	if (!below.instructions)
		ratio.accesses = below.sum;
	return ratio;
}
