/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events for spreadsheets: a line for each. */
#include <inttypes.h>

#include "base/csv.h"
#include "output/events.h"

static const char header[] =
	"name,pmu,source,state,advertised,per_task,type,config,config1,unit,meaning\n";

static void put_text(const char *s, FILE *out)
{
	csv_put(s, out);
	fputc(',', out);
}

static void put_row(const struct events_row *row, FILE *out)
{
	put_text(row->name, out);
	put_text(row->pmu, out);
	put_text(row->source, out);
	put_text(row->state, out);
	fprintf(out, "%d,%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", row->advertised, row->per_task,
		row->type, row->config, row->config1);
	put_text(row->unit, out);
	csv_put(row->meaning, out);
	fputc('\n', out);
}

int events_write_csv(const struct events_report *r, FILE *out)
{
	fputs(header, out);
	for (size_t i = 0; i < r->nr_rows; i++)
		put_row(&r->rows[i], out);
	return 0;
}
