/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for a CPU, for people: a table of sums, one of those who waited longest, histograms in the
 * form that BCC's tools made familiar, and the outliers.
 */
#include "output/runqlat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/round.h"
#include "base/text.h"
#include "output/grid.h"
#include "output/output.h"
#include "profile/bpf_cost.h"
#include "profile/profile.h"

#define TOP_ROWS     20
#define TOP_OUTLIERS 20
#define STARS	     40 /* at most, as BCC draws them */
#define BUCKET_WIDTH 38 /* "1024 -> 2047 : 12345678 |" and the other bar */
#define MAX_NAME     15 /* bytes of a thread's name */

static const char *const kind_texts[RUNQLAT_NR_KINDS] = {
	[RUNQLAT_WOKEN] = "woken -> running",
	[RUNQLAT_PREEMPTED] = "preempted -> running",
	[RUNQLAT_BOTH] = "both",
};

const char *const latency_by_keys[] = {
	[PROF_HIST_BY_CPU] = "cpu",
	[PROF_HIST_BY_PROCESS] = "process",
	[PROF_HIST_BY_THREAD] = "thread",
};

/* The columns of how long. */
static const struct grid_column stats_columns[] = {
	{ "COUNT", .rank = 2 }, { "P50", .rank = 5 }, { "P90", .rank = 6 },   { "P99", .rank = 1 },
	{ "P99.9", .rank = 7 }, { "MAX", .rank = 3 }, { "TOTAL", .rank = 4 },
};

double runqlat_outlier_at_s(const struct runqlat_report *r, const struct prof_outlier *o)
{
	return o->time_ns > r->start_ns ? (o->time_ns - r->start_ns) / 1e9 : 0;
}

static void print_name(const char *name, size_t width, FILE *out)
{
	char *safe = text_cleaned(name);

	text_fit(out, safe, width, 0);
	free(safe);
}

static void print_head(const struct runqlat_report *r, uint64_t count, FILE *out)
{
	uint64_t end_ns = r->start_real_ns + r->duration_ns;
	time_t end = (time_t)(end_ns / 1000000000);
	char clock[16] = "runqlat";
	struct tm tm;

	if (r->interval && localtime_r(&end, &tm))
		strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(out, "%s%s: %s of ", r->interval > 1 ? "\n" : "", clock, text_ns(r->duration_ns));
	print_name(r->target ? r->target : "", output_width(out) - 45, out);
	summary_put_end(r->ended_by, out);
	fprintf(out, "; %s wait%s for a CPU\n", text_count(count), count == 1 ? "" : "s");
}

static void add_columns(struct grid *g)
{
	for (size_t i = 0; i < sizeof(stats_columns) / sizeof(*stats_columns); i++)
		grid_add(g, stats_columns[i]);
}

static void put_stats(struct grid *g, const struct runqlat_row *l, enum runqlat_kind kind)
{
	struct runqlat_stats s;
	struct prof_hist h;

	runqlat_get(l, kind, &h);
	s = runqlat_stats(&h);
	grid_cell(g, "%s", text_count(s.count));
	for (size_t i = 0; i < RUNQLAT_NR_PCTS; i++)
		grid_cell(g, "%s", text_ns(round_u64(s.pct_ns[i])));
	grid_cell(g, "%s", text_ns(s.max_ns));
	grid_cell(g, "%s", text_ns(s.total_ns));
}

static uint64_t count_of(const struct runqlat_row *l, enum runqlat_kind kind)
{
	struct prof_hist h;

	runqlat_get(l, kind, &h);
	return runqlat_count(&h);
}

/* A sum of one thing is left out. */
static bool is_shown(const struct runqlat_row *l, enum runqlat_kind kind)
{
	if (kind == RUNQLAT_BOTH)
		return count_of(l, RUNQLAT_WOKEN) && count_of(l, RUNQLAT_PREEMPTED);
	return count_of(l, kind);
}

static void print_sums(const struct runqlat_row *sum, FILE *out)
{
	struct grid g;

	grid_init(&g, out, &(struct grid_column){ .head = "WAITS", .kind = GRID_TEXT }, 1);
	add_columns(&g);
	for (enum runqlat_kind kind = 0; kind < RUNQLAT_NR_KINDS; kind++) {
		if (!is_shown(sum, kind))
			continue;
		grid_row(&g, STYLE_PLAIN, latency_kind_keys[kind], NULL);
		put_stats(&g, sum, kind);
	}
	grid_end(&g);
}

static void put_row(struct grid *g, enum prof_hist_by by, const struct runqlat_row *l)
{
	bool cpu = by == PROF_HIST_BY_CPU;

	grid_row(g, STYLE_PLAIN, NULL);
	grid_cell(g, cpu ? "%" PRIu32 : "", l->cpu);
	grid_cell(g, cpu ? "" : "%" PRIu32, l->pid);
	grid_cell(g, by == PROF_HIST_BY_THREAD ? "%" PRIu32 : "", l->tid);
	grid_cell(g, cpu ? "" : "%s", l->name);
	put_stats(g, l, RUNQLAT_BOTH);
}

/* Where there is no room for a thread's name and both numbers, its process goes. */
static void print_rows(const struct runqlat_report *r, const struct runqlat_row *const *rows,
		       size_t nr, FILE *out)
{
	const struct grid_column columns[] = {
		{ .head = "CPU" },
		{ "PID", .rank = r->by == PROF_HIST_BY_THREAD ? 8 : 2 },
		{ "TID", .rank = 2 },
		{ .head = "NAME", .kind = GRID_TEXT },
	};
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	add_columns(&g);
	for (size_t i = 0; i < nr; i++)
		put_row(&g, r->by, rows[i]);
	grid_end(&g);
}

static const char *noun(const struct runqlat_report *r)
{
	return r->by == PROF_HIST_BY_CPU      ? "CPUs"
	       : r->by == PROF_HIST_BY_THREAD ? "threads"
					      : "processes";
}

void runqlat_put_hist(const struct view *v, const struct prof_hist *h, FILE *out)
{
	uint64_t counts[RUNQLAT_LOG2_MAX], most = 1;
	size_t nr = runqlat_log2(h, v->milliseconds ? 1000000 : 1000, counts), stars;
	size_t room = output_width(out) - BUCKET_WIDTH, all = room < STARS ? room : STARS;

	fprintf(out, "     %-19s : count     distribution\n", v->milliseconds ? "msecs" : "usecs");
	for (size_t i = 0; i < nr; i++)
		most = counts[i] > most ? counts[i] : most;
	for (size_t i = 0; i < nr; i++) {
		stars = (size_t)((double)counts[i] * all / most);
		fprintf(out, "%10llu -> %-10llu : %-8" PRIu64 " |%.*s%*s|\n", i ? 1ull << i : 0,
			(2ull << i) - 1, counts[i], (int)stars,
			"****************************************", (int)(all - stars), "");
	}
}

static void print_sum_hists(const struct view *v, const struct runqlat_row *sum, FILE *out)
{
	struct prof_hist h;

	for (enum runqlat_kind kind = 0; kind < RUNQLAT_NR_KINDS; kind++) {
		if (!is_shown(sum, kind))
			continue;
		runqlat_get(sum, kind, &h);
		fprintf(out, "\n%s\n", kind_texts[kind]);
		runqlat_put_hist(v, &h, out);
	}
}

/* "pid = 12 tid = 13 name: 17 woken, 4 preempted" */
static void print_row_hist(const struct runqlat_report *r, const struct view *v,
			   const struct runqlat_row *l, FILE *out)
{
	struct prof_hist h;

	if (r->by == PROF_HIST_BY_CPU)
		fprintf(out, "\ncpu = %" PRIu32, l->cpu);
	else
		fprintf(out, "\npid = %" PRIu32 " ", l->pid);
	if (r->by == PROF_HIST_BY_THREAD)
		fprintf(out, "tid = %" PRIu32 " ", l->tid);
	if (r->by != PROF_HIST_BY_CPU)
		print_name(l->name, MAX_NAME, out);
	fprintf(out, ": %s woken, %s preempted\n", text_count(count_of(l, RUNQLAT_WOKEN)),
		text_count(count_of(l, RUNQLAT_PREEMPTED)));
	runqlat_get(l, RUNQLAT_BOTH, &h);
	runqlat_put_hist(v, &h, out);
}

static void print_more(size_t nr, const char *what, FILE *out)
{
	if (nr)
		fprintf(out, "… %s more %s: --json and --csv have them all\n", text_count(nr),
			what);
}

static void print_split(const struct runqlat_report *r, const struct view *v,
			const struct runqlat_row *sum, FILE *out)
{
	size_t nr = r->nr_rows, shown;
	const struct runqlat_row **rows = runqlat_sorted(r->rows, &nr);

	shown = nr < TOP_ROWS ? nr : TOP_ROWS;
	print_sums(sum, out);
	print_rows(r, rows, shown, out);
	print_more(nr - shown, noun(r), out);
	for (size_t i = 0; i < shown; i++)
		print_row_hist(r, v, rows[i], out);
	free(rows);
}

static int longest_first(const void *pa, const void *pb)
{
	const struct prof_outlier *a = *(const struct prof_outlier *const *)pa;
	const struct prof_outlier *b = *(const struct prof_outlier *const *)pb;

	if (a->wait_ns != b->wait_ns)
		return a->wait_ns > b->wait_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_place(const void *pa, const void *pb)
{
	const struct prof_outlier *a = *(const struct prof_outlier *const *)pa;
	const struct prof_outlier *b = *(const struct prof_outlier *const *)pb;

	return a < b ? -1 : a > b;
}

/* The longest, in order of time again. *nr: how many. To be freed. */
static const struct prof_outlier **top_outliers(const struct runqlat_report *r, size_t *nr)
{
	const struct prof_outlier **top =
		xcalloc(r->nr_outliers, sizeof(const struct prof_outlier *));

	for (size_t i = 0; i < r->nr_outliers; i++)
		top[i] = &r->outliers[i];
	qsort(top, r->nr_outliers, sizeof(*top), longest_first);
	*nr = r->nr_outliers < TOP_OUTLIERS ? r->nr_outliers : TOP_OUTLIERS;
	qsort(top, *nr, sizeof(*top), by_place);
	return top;
}

/* A list of who ran, to free(). */
static char *ran_text(const struct prof_outlier *o)
{
	char *text = xstrdup(""), *longer;

	for (size_t i = 0; i < PROF_OUTLIER_RAN; i++) {
		if (!o->ran[i].ns)
			continue;
		longer = xasprintf("%s%s%.*s %s", text, *text ? ", " : "", PROF_COMM_LEN,
				   o->ran[i].comm, text_ns(o->ran[i].ns));
		free(text);
		text = longer;
	}
	return text;
}

/* A thread that is not its process's first has both numbers. */
static void put_outlier(struct grid *g, const struct runqlat_report *r,
			const struct prof_outlier *o)
{
	char *ran = ran_text(o);

	grid_row(g, STYLE_PLAIN, NULL);
	grid_cell(g, "%.3f", runqlat_outlier_at_s(r, o));
	grid_cell(g, "%s", text_ns(o->wait_ns));
	grid_cell(g, "%.*s", PROF_COMM_LEN, o->comm);
	grid_cell(g, o->pid == o->tid ? "%" PRIu32 : "%" PRIu32 "/%" PRIu32, o->pid, o->tid);
	grid_cell(g, "%s", latency_kind_keys[o->kind]);
	grid_cell(g, "%" PRIu32, o->cpu);
	grid_cell(g, "%s", *ran ? ran : "-");
	free(ran);
}

static void print_top_outliers(const struct runqlat_report *r,
			       const struct prof_outlier *const *top, size_t nr, FILE *out)
{
	static const struct grid_column columns[] = {
		{ "AT", .rank = 2 },
		{ .head = "WAITED" },
		{ .head = "NAME", .kind = GRID_TEXT },
		{ "PID/TID", GRID_TEXT, .rank = 3 },
		{ "KIND", GRID_TEXT, .rank = 4 },
		{ "CPU", .rank = 5 },
		{ "RAN MEANWHILE", GRID_TEXT, .rank = 1, .min = 16 },
	};
	struct grid g;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	grid_whole(&g);
	g.first = true;
	for (size_t i = 0; i < nr; i++)
		put_outlier(&g, r, top[i]);
	grid_end(&g);
}

static void print_outliers(const struct runqlat_report *r, FILE *out)
{
	const struct prof_outlier **top;
	uint64_t all;
	size_t nr;

	if (!r->threshold_ns)
		return;
	if (!r->nr_outliers && !r->outliers_lost) {
		fprintf(out, "\nno wait was longer than %s\n", text_ns(r->threshold_ns));
		return;
	}
	top = top_outliers(r, &nr);
	all = r->nr_outliers + r->outliers_lost;
	fprintf(out, "\n%s wait%s longer than %s", text_count(all), all == 1 ? "" : "s",
		text_ns(r->threshold_ns));
	if (nr < r->nr_outliers)
		fprintf(out, "; the %zu longest, in order of time", nr);
	fputs(":\n", out);
	print_top_outliers(r, top, nr, out);
	print_more(r->nr_outliers - nr, "outliers", out);
	if (r->outliers_lost)
		fprintf(out, "%s outliers LOST: they came faster than they were read\n",
			text_count(r->outliers_lost));
	free(top);
}

static void print_cost(const uint64_t c[PROF_NR_COUNTERS], FILE *out)
{
	if (!c[PROF_TIMED_RUNS])
		return;
	fprintf(out, "cost      %s per switch", text_ns(c[PROF_TIMED_NS] / c[PROF_TIMED_RUNS]));
	if (c[PROF_TIMED_WAKES])
		fprintf(out, " and %s per wake-up",
			text_ns(c[PROF_WAKES_NS] / c[PROF_TIMED_WAKES]));
	fprintf(out, " in BPF, %s of CPU in all\n", text_ns(counters_bpf_ns(c)));
}

int runqlat_write_text(const struct runqlat_report *r, const struct view *v, FILE *out)
{
	uint64_t count;
	struct runqlat_row sum;

	runqlat_sum(r->rows, r->nr_rows, &sum);
	count = count_of(&sum, RUNQLAT_BOTH);
	print_head(r, count, out);
	if (count && r->split) {
		print_split(r, v, &sum, out);
	} else if (count) {
		print_sums(&sum, out);
		print_sum_hists(v, &sum, out);
	}
	print_outliers(r, out);
	if (r->counters) {
		ledger_put(r->counters, "waits", out);
		print_cost(r->counters, out);
		if (r->profile)
			summary_put_budget(r->profile, out);
	}
	return 0;
}
