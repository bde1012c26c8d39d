/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine and its events, for people: what it can count, then a table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/events.h"

#define SOURCE_WIDTH 13
#define STATE_WIDTH  17

static void put_machine(const struct events_report *r, FILE *out)
{
	bool same = !strcmp(r->cpu, r->core);

	fprintf(out, "CPU: %s%s%s, %" PRIu64 " online (%s)\n", r->cpu, same ? "" : ", ",
		same ? "" : r->core, r->nr_cpus, r->core_ident);
	if (!r->pmu)
		fputs("PMU: none. This machine shows no hardware counters (virtual machines often "
		      "do not): cycles,\n     instructions, caches, TLBs and branches cannot be "
		      "counted; software events can.\n",
		      out);
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
			     : "SPE: none; of cloud machines only whole ones (metal) have it.\n",
		      out);
}

static size_t longer(size_t width, const char *text)
{
	size_t w = text_width(text);

	return w > width ? w : width;
}

static void put_cell(const char *text, size_t width, FILE *out)
{
	text_fit(out, text, width, 1);
	fputs("  ", out);
}

static void put_row(const struct events_row *row, size_t names, size_t pmus, FILE *out)
{
	char *meaning = text_cleaned(row->meaning);

	put_cell(row->name, names, out);
	put_cell(row->pmu, pmus, out);
	put_cell(row->source, SOURCE_WIDTH, out);
	text_fit(out, row->state_text, STATE_WIDTH, !!*meaning);
	fprintf(out, "%s%s\n", *meaning ? "  " : "", meaning);
	free(meaning);
}

static void put_rows(const struct events_report *r, FILE *out)
{
	size_t names = strlen("NAME"), pmus = strlen("PMU");

	for (size_t i = 0; i < r->nr_rows; i++) {
		names = longer(names, r->rows[i].name);
		pmus = longer(pmus, r->rows[i].pmu);
	}
	fprintf(out, "\n%-*s  %-*s  %-*s  %-*s  %s\n", (int)names, "NAME", (int)pmus, "PMU",
		SOURCE_WIDTH, "SOURCE", STATE_WIDTH, "STATE", "MEANING");
	for (size_t i = 0; i < r->nr_rows; i++)
		put_row(&r->rows[i], names, pmus, out);
	fputc('\n', out);
}

int events_write_text(const struct events_report *r, FILE *out)
{
	put_machine(r, out);
	put_rows(r, out);
	put_rest(r, out);
	return 0;
}
