/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine and its events, for people: what it can count, then a table. */
#include <inttypes.h>
#include <string.h>

#include "output/events.h"
#include "output/figures.h"
#include "output/grid.h"
#include "output/output.h"

static void put_machine(const struct events_report *r, FILE *out)
{
	bool same = !strcmp(r->cpu, r->core);

	fprintf(out, "CPU: %s%s%s, %" PRIu64 " online (%s)\n", r->cpu, same ? "" : ", ",
		same ? "" : r->core, r->nr_cpus, r->core_ident);
	if (!r->pmu)
		figure_wrap("PMU: none. This machine shows no hardware counters (virtual machines "
			    "often do not): cycles, instructions, caches, TLBs and branches cannot "
			    "be counted; software events can.",
			    0, 5, output_width(out), out);
	else if (r->counters)
		fprintf(out, "PMU: %s, %u counters free for any event%s\n", r->pmu, r->counters,
			r->arm ? ", and one for cycles" : "");
	else
		fprintf(out, "PMU: %s; how many counters it has could not be asked\n", r->pmu);
}

static void put_rest(const struct events_report *r, FILE *out)
{
	if (r->branch_stack_depth)
		fprintf(out, "Branch stacks: %" PRIu64 " deep.\n", r->branch_stack_depth);
	else
		fputs("Branch stacks: none.\n", out);
	if (r->arm)
		fputs(r->spe ? "SPE: arm_spe_0 is there; its trace is not read.\n"
			     : "SPE: none (cloud instances have it on bare metal only).\n",
		      out);
}

static void put_rows(const struct events_report *r, FILE *out)
{
	static const struct grid_column columns[] = {
		{ "NAME", GRID_TEXT, .min = 24 },
		{ "PMU", GRID_TEXT, .rank = 4 },
		{ "SOURCE", GRID_TEXT, .rank = 3 },
		{ "STATE", GRID_TEXT, .rank = 1 },
		{ "MEANING", GRID_TEXT, .rank = 2, .min = 28 },
	};
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	grid_whole(&g);
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct events_row *row = &r->rows[i];
		bool counts = !strncmp(row->state, "counts", 6);

		grid_row(&g, counts ? STYLE_PLAIN : STYLE_IDLE, row->name, row->pmu, row->source,
			 row->state_text, row->meaning, NULL);
	}
	grid_end(&g);
	fputc('\n', out);
}

int events_write_text(const struct events_report *r, FILE *out)
{
	put_machine(r, out);
	put_rows(r, out);
	put_rest(r, out);
	return 0;
}
