/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of calls. */
#include "output/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/round.h"
#include "base/text.h"
#include "output/call_stacks.h"
#include "output/grid.h"
#include "output/json_put.h"
#include "output/output.h"
#include "output/polls.h"
#include "output/runqlat.h"
#include "profile/calls.h"
#include "profile/kind.h"

#define TOP_ROWS  40
#define TOP_HISTS 5

/* What the columns of counts, of functions and of their arguments are called. */
struct heads {
	const char *calls, *functions, *values;
};

static struct heads heads_of(const struct kind *kind)
{
	if (kind->klocks)
		return (struct heads){ "WAITS", "KIND", "LOCK" };
	if (kind->polls)
		return (struct heads){ *kind->polls == 'r' ? "RUNS" : "POLLS", "TASK", "ID" };
	if (kind->operation)
		return (struct heads){ "COUNT", "KIND", "" };
	return (struct heads){ "CALLS", "FUNCTION", kind->syscalls ? "ERROR" : "ARGUMENTS" };
}

/* Polls of any length. */
static bool has_short(const struct kind *kind)
{
	return kind->polls && !kind->slow_polls;
}

static void add_columns(struct grid *g, const struct calls *c, const struct kind *kind)
{
	const struct heads heads = heads_of(kind);
	static const struct grid_column times[] = {
		{ "AVG", .rank = 7 }, { "P50", .rank = 4 }, { "P90", .rank = 7 },
		{ "P99", .rank = 3 }, { "MAX", .rank = 5 }, { "TOTAL", .rank = 2 },
	};

	grid_add(g, (struct grid_column){ .head = heads.calls });
	if (c->every > 1)
		grid_add(g, (struct grid_column){ .head = "±" });
	grid_add(g, (struct grid_column){ "/S", .rank = 6 });
	for (size_t i = 0; c->timed && i < sizeof(times) / sizeof(*times); i++)
		grid_add(g, times[i]);
	if (c->timed && has_short(kind))
		polls_add_columns(g);
	grid_add(g, (struct grid_column){ heads.functions, kind->polls ? GRID_PATH : GRID_FUNCTION,
					  .min = kind->operation ? 20 : 28 });
	grid_add(g, (struct grid_column){ heads.values, GRID_TEXT, .rank = 1,
					  .min = kind->klocks ? 16 : 8 });
	if (c->processes) {
		grid_add(g, (struct grid_column){ "PID", .rank = 8 });
		grid_add(g, (struct grid_column){ "PROCESS", GRID_TEXT, .rank = 1 });
	}
	grid_add(g, (struct grid_column){ "WHERE", GRID_TEXT, .rank = 9, .min = 8 });
}

static void put_times(struct grid *g, const struct runqlat_stats *s, const char *about)
{
	grid_cell(g, "%s", text_ns((uint64_t)s->mean_ns));
	for (size_t i = 0; i < 3; i++)
		grid_cell(g, "%s", text_ns(round_u64(s->pct_ns[i])));
	grid_cell(g, "%s", text_ns(s->max_ns));
	grid_cell(g, "%s%s", about, text_ns(s->total_ns));
}

static void put_row(struct grid *g, const struct calls *c, const struct kind *kind,
		    const struct calls_row *row)
{
	const char *about = c->every > 1 ? "~" : "";

	grid_row(g, STYLE_PLAIN, NULL);
	grid_cell(g, "%s%s", about, text_count(row->stats.count));
	if (c->every > 1)
		grid_cell(g, "%.*f%%", row->error < 0.095, 100 * row->error);
	if (row->per_s < 10)
		grid_cell(g, "%s%.1f", about, row->per_s);
	else
		grid_cell(g, "%s%s", about, text_count(round_u64(row->per_s)));
	if (c->timed)
		put_times(g, &row->stats, about);
	if (c->timed && has_short(kind))
		polls_put_cells(g, row->hist);
	grid_cell(g, "%s", row->function);
	grid_cell(g, "%s", row->values);
	if (c->processes) {
		grid_cell(g, "%" PRIu32, row->pid);
		grid_cell(g, "%s", row->process);
	}
	grid_cell(g, "%s", output_base_name(row->where));
}

/* How values stand behind what they are of. */
static const char *value_format(const struct kind *kind)
{
	return kind->polls ? ", task %s" : kind->klocks ? ", %s" : "(%s)";
}

static const char *noun(const struct profile *p)
{
	const char *polls = kind_of_profile(p)->polls;

	return polls ? polls : profile_noun(p);
}

static void put_hist(const struct profile *p, const struct calls *c, const struct calls_row *row,
		     const struct view *v, FILE *out)
{
	char *safe = text_cleaned(row->function);
	char *values = text_cleaned(row->values), *process = text_cleaned(row->process);

	fprintf(out, "\n%s", safe);
	if (*values)
		fprintf(out, value_format(kind_of_profile(p)), values);
	if (row->pid)
		fprintf(out, " in %s (%" PRIu32 ")", process, row->pid);
	fprintf(out, ": %s%s %s%s\n", c->every > 1 ? "~" : "", text_count(row->stats.count),
		noun(p), row->stats.count == 1 ? "" : "s");
	runqlat_put_hist(v, row->hist, out);
	free(process);
	free(values);
	free(safe);
}

void calls_put_more(size_t nr, size_t shown, const char *what, FILE *out)
{
	if (nr > shown)
		fprintf(out, "… %s more %s: --json and --csv have them all\n",
			text_count(nr - shown), what);
}

void calls_put(const struct profile *p, const struct view *v, FILE *out)
{
	const struct kind *kind = kind_of_profile(p);
	size_t most = v->rows ? v->rows : TOP_ROWS;
	struct calls c;
	struct grid g;

	if (!p->nr_call_rows)
		return;
	calls_init(&c, p);
	grid_init(&g, out, NULL, 0);
	add_columns(&g, &c, kind);
	for (size_t i = 0; i < c.nr && i < most; i++)
		put_row(&g, &c, kind, &c.rows[i]);
	grid_end(&g);
	calls_put_more(c.nr, most, "rows", out);
	if (c.every > 1)
		fputs("~ made up from the calls that were looked at (--every), ± by chance, at "
		      "most, in 95 of 100 recordings\n",
		      out);
	if (c.timed && has_short(kind))
		polls_put_shares(&c, kind->polls, out);
	for (size_t i = 0; c.timed && i < c.nr && i < TOP_HISTS; i++)
		put_hist(p, &c, &c.rows[i], v, out);
	if (c.timed)
		calls_put_more(c.nr, TOP_HISTS, "histograms", out);
	calls_release(&c);
	call_stacks_put(p, v, out);
}

/* Rows differ by function, values or process. */
static size_t nr_functions(const struct calls *c)
{
	size_t nr = 0, k;

	for (size_t i = 0; i < c->nr; i++) {
		for (k = 0; k < i && strcmp(c->rows[k].function, c->rows[i].function); k++)
			;
		nr += k == i;
	}
	return nr;
}

/* Calls that no filter left out but --every: these are counted one by one. */
static uint64_t nr_counted(const struct profile *p)
{
	uint64_t nr = p->counters[PROF_SEEN];

	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == COUNTER_FILTER && i != PROF_FILTER_EVERY)
			nr -= p->counters[i];
	return nr;
}

void calls_put_sum(const struct profile *p, FILE *out)
{
	const struct kind *kind = kind_of_profile(p);
	struct calls c;
	uint64_t nr;

	calls_init(&c, p);
	nr = c.every > 1 ? nr_counted(p) : c.nr_calls;
	fprintf(out, "%s %s%s", text_count(nr), profile_noun(p), nr == 1 ? "" : "s");
	if (kind->syscalls)
		fputs(" of the system", out);
	else if (kind->operation || kind->polls)
		fprintf(out, " of %s kind%s", text_count(nr_functions(&c)),
			nr_functions(&c) == 1 ? "" : "s");
	else if (p->nr_events > 1)
		fprintf(out, " at %s places", text_count(p->nr_events));
	else if (p->nr_events) {
		fputs(" of ", out);
		text_clean(out, profile_str(p, p->events[0].name),
			   strlen(profile_str(p, p->events[0].name)));
	}
	if (c.every > 1)
		fprintf(out, ", of which one in %s was looked at, at random", text_count(c.every));
	if (c.timed && p->counters[PROF_BEGUN] > p->counters[PROF_ENDED])
		fprintf(out, "; %s had not %s",
			text_count(p->counters[PROF_BEGUN] - p->counters[PROF_ENDED]),
			kind->operation ? "ended" : "returned");
	fputc('\n', out);
	calls_release(&c);
}

void calls_put_times(struct json_object *o, const struct runqlat_stats *s)
{
	static const char *const keys[] = { "p50_us", "p90_us", "p99_us", "p99_9_us" };

	json_put_number(o, "total_us", s->total_ns / 1e3);
	json_put_number(o, "mean_us", s->mean_ns / 1e3);
	for (size_t i = 0; i < RUNQLAT_NR_PCTS; i++)
		json_put_number(o, keys[i], s->pct_ns[i] / 1e3);
	json_put_number(o, "max_us", s->max_ns / 1e3);
}

static struct json_object *row_json(const struct calls *c, const struct kind *kind,
				    const struct calls_row *row)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "function", json_text(row->function));
	json_object_object_add(o, "where", json_text(row->where));
	json_object_object_add(o, "arguments", *row->values ? json_text(row->values) : NULL);
	json_object_object_add(o, "process", *row->process ? json_text(row->process) : NULL);
	if (row->pid)
		json_put_count(o, "pid", row->pid);
	else
		json_object_object_add(o, "pid", NULL);
	json_put_count(o, "calls", row->stats.count);
	json_put_number(o, "per_s", row->per_s);
	if (c->every > 1)
		json_put_number(o, "calls_error_pct", 100 * row->error);
	if (c->timed)
		calls_put_times(o, &row->stats);
	if (kind->polls)
		polls_put_json(o, row->hist);
	if (row->hist)
		json_object_object_add(o, "log2_us", runqlat_log2_json(row->hist));
	return o;
}

struct json_object *calls_json(const struct profile *p)
{
	struct json_object *list;
	struct calls c;

	if (!p->nr_call_rows)
		return NULL;
	list = json_object_new_array();
	calls_init(&c, p);
	for (size_t i = 0; i < c.nr; i++)
		json_object_array_add(list, row_json(&c, kind_of_profile(p), &c.rows[i]));
	calls_release(&c);
	return list;
}

void calls_put_csv_times(const struct runqlat_stats *s, FILE *out)
{
	fprintf(out, "%.3f,", s->mean_ns / 1e3);
	for (size_t k = 0; k < RUNQLAT_NR_PCTS; k++)
		fprintf(out, "%.3f,", s->pct_ns[k] / 1e3);
	fprintf(out, "%.3f,%.3f", s->max_ns / 1e3, s->total_ns / 1e3);
}

int calls_write_csv(const struct profile *p, const struct view *v, FILE *out)
{
	struct calls c;

	calls_init(&c, p);
	fputs("function,where,arguments,process,pid,calls,per_s,"
	      "mean_us,p50_us,p90_us,p99_us,p99_9_us,max_us,total_us\n",
	      out);
	for (size_t i = 0; i < c.nr && (!v->rows || i < v->rows); i++) {
		const struct calls_row *row = &c.rows[i];

		csv_put(row->function, out);
		fputc(',', out);
		csv_put(row->where, out);
		fputc(',', out);
		csv_put(row->values, out);
		fputc(',', out);
		csv_put(row->process, out);
		fprintf(out, row->pid ? ",%" PRIu32 "," : ",,", row->pid);
		fprintf(out, "%" PRIu64 ",%.3f,", row->stats.count, row->per_s);
		if (c.timed)
			calls_put_csv_times(&row->stats, out);
		else
			fputs(",,,,,,", out);
		fputc('\n', out);
	}
	calls_release(&c);
	return 0;
}
