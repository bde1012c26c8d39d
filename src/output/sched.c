/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of threads, as perf sched latency has it: for people and for spreadsheets. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/text.h"
#include "output/grid.h"
#include "output/output.h"

static const struct grid_column columns[] = {
	{ "NAME", GRID_TEXT, .min = 8 },
	{ "PID/TID", GRID_TEXT, .rank = 3 },
	{ .head = "RUNTIME" },
	{ "SWITCHES", .rank = 2, .min = 6 },
	{ "PREEMPTED", .rank = 5, .min = 7 },
	{ "RUNNABLE", .rank = 6 },
	{ "AVG DELAY", .rank = 1 },
	{ .head = "MAX DELAY" },
	{ "MAX AT", .rank = 4 },
	{ "WAITED", .rank = 7 },
	{ "THROTTLED", .rank = 8 },
};

static void put_ns(struct grid *g, uint64_t ns, bool any)
{
	if (any)
		grid_cell(g, "%s", text_ns(ns));
	else
		grid_cell(g, "%s", "");
}

static void put_row(struct grid *g, const struct timeline_row *r)
{
	char *numbers = timeline_numbers(r->pid, r->tid);

	grid_row(g, STYLE_PLAIN, r->name, numbers, NULL);
	put_ns(g, r->ns[TIMELINE_RUNS], true);
	grid_cell(g, "%s", text_count(r->switches));
	grid_cell(g, "%s", text_count(r->preempted));
	put_ns(g, r->ns[TIMELINE_RUNNABLE], true);
	put_ns(g, timeline_avg_ns(r), r->longest);
	put_ns(g, timeline_max_ns(r), r->longest);
	if (r->longest)
		grid_cell(g, "%.6f", r->longest->start_ns / 1e9);
	else
		grid_cell(g, "%s", "");
	put_ns(g, r->ns[TIMELINE_WAITS], true);
	put_ns(g, r->ns[TIMELINE_THROTTLED], r->ns[TIMELINE_THROTTLED]);
	free(numbers);
}

int sched_write_text(const struct profile *p, const struct view *v, FILE *out)
{
	struct timeline_row *rows;
	struct timeline t;
	struct grid g;
	size_t nr;

	timeline_init(&t, p);
	rows = timeline_rows(&t, v->timeline_sort, v->per_process, &nr);
	timeline_put_head(&t, out);
	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	grid_whole(&g);
	for (size_t i = 0; i < nr; i++)
		put_row(&g, &rows[i]);
	grid_end(&g);
	summary_put_ledger(p, out);
	summary_put_cost(p, out);
	free(rows);
	timeline_release(&t);
	return 0;
}

static void put_line(const struct timeline_row *r, FILE *out)
{
	fprintf(out, "%" PRIu32 ",", r->pid);
	if (r->tid)
		fprintf(out, "%" PRIu32, r->tid);
	fputc(',', out);
	csv_put(r->name, out);
	for (size_t i = 0; i < TIMELINE_NR_STATES; i++)
		fprintf(out, ",%.3f", r->ns[i] / 1e3);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f,%.3f,", r->switches, r->preempted,
		r->delays, timeline_avg_ns(r) / 1e3, timeline_max_ns(r) / 1e3);
	if (r->longest)
		fprintf(out, "%.9f,%.9f", r->longest->start_ns / 1e9, r->longest->end_ns / 1e9);
	else
		fputc(',', out);
	fputc('\n', out);
}

int sched_write_csv(const struct profile *p, const struct view *v, FILE *out)
{
	struct timeline_row *rows;
	struct timeline t;
	size_t nr;

	timeline_init(&t, p);
	rows = timeline_rows(&t, v->timeline_sort, v->per_process, &nr);
	fputs("pid,tid,name,running_us,runnable_us,waiting_us,throttled_us,unknown_us,switches,"
	      "preempted,delays,avg_delay_us,max_delay_us,max_delay_from_s,max_delay_to_s\n",
	      out);
	for (size_t i = 0; i < nr; i++)
		put_line(&rows[i], out);
	free(rows);
	timeline_release(&t);
	return 0;
}
