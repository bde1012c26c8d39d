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
#include "base/text.h"
#include "output/output.h"
#include "profile/profile.h"

#define TOP_ROWS     20
#define TOP_OUTLIERS 20
#define STARS	     40 /* as BCC draws them */
#define LABEL_WIDTH  9	/* "preempted" */
#define COUNT_WIDTH  10
#define TIME_WIDTH   8 /* of a column with a time, and the space before it */
#define NR_TIMES     (RUNQLAT_NR_PCTS + 2)
#define MIN_NAME     4
#define ID_SIZE	     24 /* of a pid and a tid */
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

/* What the columns of who waited are like: names get what is left. */
struct who {
	bool pid, tid, cpu, name;
	size_t pid_width, tid_width, name_width, width;
};

double runqlat_outlier_at_s(const struct runqlat_report *r, const struct prof_outlier *o)
{
	return o->time_ns > r->start_ns ? (o->time_ns - r->start_ns) / 1e9 : 0;
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t digits(uint32_t n)
{
	size_t nr = 1;

	while (n /= 10)
		nr++;
	return nr;
}

static void print_name(const char *name, size_t width, int pad, FILE *out)
{
	char *safe = text_cleaned(name);

	text_fit(out, safe, width, pad);
	free(safe);
}

static void print_comm(const char comm[PROF_COMM_LEN], int pad, FILE *out)
{
	char name[PROF_COMM_LEN + 1] = "";

	memcpy(name, comm, PROF_COMM_LEN);
	print_name(name, MAX_NAME, pad, out);
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
	print_name(r->target ? r->target : "", output_width(out) - 45, 0, out);
	fprintf(out, "; %s wait%s for a CPU\n", text_count(count), count == 1 ? "" : "s");
}

static void print_columns(FILE *out)
{
	static const char *const columns[NR_TIMES] = {
		"P50", "P90", "P99", "P99.9", "MAX", "TOTAL"
	};

	fprintf(out, " %*s", COUNT_WIDTH, "COUNT");
	for (size_t i = 0; i < NR_TIMES; i++)
		fprintf(out, " %*s", TIME_WIDTH - 1, columns[i]);
	fputc('\n', out);
}

static void print_stats(const struct prof_hist *h, FILE *out)
{
	struct runqlat_stats s = runqlat_stats(h);

	fprintf(out, " %*s", COUNT_WIDTH, text_count(s.count));
	for (size_t i = 0; i < RUNQLAT_NR_PCTS; i++)
		fprintf(out, " %*s", TIME_WIDTH - 1, text_ns((uint64_t)(s.pct_ns[i] + 0.5)));
	fprintf(out, " %*s %*s\n", TIME_WIDTH - 1, text_ns(s.max_ns), TIME_WIDTH - 1,
		text_ns(s.total_ns));
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

static void print_sums(const struct runqlat_row *sum, size_t width, FILE *out)
{
	struct prof_hist h;

	fputc('\n', out);
	text_fit(out, "WAITS", width, 1);
	print_columns(out);
	for (enum runqlat_kind kind = 0; kind < RUNQLAT_NR_KINDS; kind++) {
		if (!is_shown(sum, kind))
			continue;
		runqlat_get(sum, kind, &h);
		text_fit(out, latency_kind_keys[kind], width, 1);
		print_stats(&h, out);
	}
}

/* Where there is no room for a thread's name and both numbers, its process goes. */
static void who_init(struct who *w, const struct runqlat_report *r,
		     const struct runqlat_row *const *rows, size_t nr, size_t width)
{
	size_t names = strlen("NAME"), rest = 1 + COUNT_WIDTH + NR_TIMES * TIME_WIDTH;

	*w = (struct who){ .pid_width = strlen("PID"), .tid_width = strlen("TID") };
	w->cpu = r->by == PROF_HIST_BY_CPU;
	w->name = !w->cpu;
	w->tid = r->by == PROF_HIST_BY_THREAD;
	for (size_t i = 0; i < nr; i++) {
		char *safe = text_cleaned(rows[i]->name);

		names = max(names, text_width(safe));
		w->pid_width = max(w->pid_width, digits(rows[i]->pid));
		w->tid_width = max(w->tid_width, digits(rows[i]->tid));
		free(safe);
	}
	rest += w->tid ? w->tid_width + 1 : 0;
	w->pid = w->name && (!w->tid || rest + w->pid_width + 1 + names <= width);
	rest += w->pid ? w->pid_width + 1 : 0;
	w->name_width = width > rest + MIN_NAME ? width - rest : MIN_NAME;
	w->name_width = names < w->name_width ? names : w->name_width;
	w->width = w->name ? (w->pid ? w->pid_width + 1 : 0) + (w->tid ? w->tid_width + 1 : 0) +
				     w->name_width
			   : strlen("CPU");
}

static void print_rows_head(const struct who *w, size_t width, FILE *out)
{
	fputc('\n', out);
	if (w->cpu)
		fputs("CPU", out);
	if (w->pid)
		fprintf(out, "%*s ", (int)w->pid_width, "PID");
	if (w->tid)
		fprintf(out, "%*s ", (int)w->tid_width, "TID");
	if (w->name)
		text_fit(out, "NAME", w->name_width, 1);
	fprintf(out, "%*s", (int)(width - w->width), "");
	print_columns(out);
}

static void print_row(const struct who *w, const struct runqlat_row *l, size_t width, FILE *out)
{
	struct prof_hist h;

	if (w->cpu)
		fprintf(out, "%3" PRIu32, l->cpu);
	if (w->pid)
		fprintf(out, "%*" PRIu32 " ", (int)w->pid_width, l->pid);
	if (w->tid)
		fprintf(out, "%*" PRIu32 " ", (int)w->tid_width, l->tid);
	if (w->name)
		print_name(l->name, w->name_width, 1, out);
	fprintf(out, "%*s", (int)(width - w->width), "");
	runqlat_get(l, RUNQLAT_BOTH, &h);
	print_stats(&h, out);
}

static const char *noun(const struct runqlat_report *r)
{
	return r->by == PROF_HIST_BY_CPU      ? "CPUs"
	       : r->by == PROF_HIST_BY_THREAD ? "threads"
					      : "processes";
}

static void print_hist(const struct view *v, const struct prof_hist *h, FILE *out)
{
	uint64_t counts[RUNQLAT_LOG2_MAX], most = 1;
	size_t nr = runqlat_log2(h, v->milliseconds ? 1000000 : 1000, counts), stars;

	fprintf(out, "     %-19s : count     distribution\n", v->milliseconds ? "msecs" : "usecs");
	for (size_t i = 0; i < nr; i++)
		most = counts[i] > most ? counts[i] : most;
	for (size_t i = 0; i < nr; i++) {
		stars = (size_t)((double)counts[i] * STARS / most);
		fprintf(out, "%10llu -> %-10llu : %-8" PRIu64 " |%.*s%*s|\n", i ? 1ull << i : 0,
			(2ull << i) - 1, counts[i], (int)stars,
			"****************************************", STARS - (int)stars, "");
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
		print_hist(v, &h, out);
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
		print_comm(l->name, 0, out);
	fprintf(out, ": %s woken, %s preempted\n", text_count(count_of(l, RUNQLAT_WOKEN)),
		text_count(count_of(l, RUNQLAT_PREEMPTED)));
	runqlat_get(l, RUNQLAT_BOTH, &h);
	print_hist(v, &h, out);
}

static void print_more(size_t nr, const char *what, FILE *out)
{
	if (nr)
		fprintf(out, "… %s more %s: --json and --csv have them all\n", text_count(nr),
			what);
}

/* Both tables have their numbers in the same columns. */
static void print_split(const struct runqlat_report *r, const struct view *v,
			const struct runqlat_row *sum, FILE *out)
{
	size_t nr = r->nr_rows, shown, width;
	const struct runqlat_row **rows = runqlat_sorted(r->rows, &nr);
	struct who w;

	shown = nr < TOP_ROWS ? nr : TOP_ROWS;
	who_init(&w, r, rows, shown, output_width(out));
	width = max(w.width, LABEL_WIDTH);
	print_sums(sum, width, out);
	print_rows_head(&w, width, out);
	for (size_t i = 0; i < shown; i++)
		print_row(&w, rows[i], width, out);
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

static void print_ran(const struct prof_outlier *o, FILE *out)
{
	const char *between = "";

	for (size_t i = 0; i < PROF_OUTLIER_RAN; i++) {
		if (!o->ran[i].ns)
			continue;
		fputs(between, out);
		print_comm(o->ran[i].comm, 0, out);
		fprintf(out, " %s", text_ns(o->ran[i].ns));
		between = ", ";
	}
	fputs(*between ? "\n" : "-\n", out);
}

/* A thread that is not its process's first has both numbers. */
static const char *id_text(const struct prof_outlier *o, char id[ID_SIZE])
{
	if (o->pid == o->tid)
		snprintf(id, ID_SIZE, "%" PRIu32, o->pid);
	else
		snprintf(id, ID_SIZE, "%" PRIu32 "/%" PRIu32, o->pid, o->tid);
	return id;
}

static void print_outlier(const struct runqlat_report *r, const struct prof_outlier *o,
			  size_t id_width, FILE *out)
{
	char id[ID_SIZE];

	fprintf(out, "%8.3f %7s  ", runqlat_outlier_at_s(r, o), text_ns(o->wait_ns));
	print_comm(o->comm, 1, out);
	fprintf(out, " %-*s %-*s %3" PRIu32 "  ", (int)id_width, id_text(o, id), LABEL_WIDTH,
		latency_kind_keys[o->kind], o->cpu);
	print_ran(o, out);
}

static void print_top_outliers(const struct runqlat_report *r,
			       const struct prof_outlier *const *top, size_t nr, FILE *out)
{
	size_t id_width = strlen("PID/TID");
	char id[ID_SIZE];

	for (size_t i = 0; i < nr; i++)
		id_width = max(id_width, strlen(id_text(top[i], id)));
	fprintf(out, "      AT  WAITED  %-*s %-*s %-*s CPU  RAN MEANWHILE\n", MAX_NAME, "NAME",
		(int)id_width, "PID/TID", LABEL_WIDTH, "KIND");
	for (size_t i = 0; i < nr; i++)
		print_outlier(r, top[i], id_width, out);
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

static void print_causes(const uint64_t *counters, enum counter_kind kind, const char *what,
			 FILE *out)
{
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == kind && counters[i])
			fprintf(out, "  %13s %s: %s\n", text_count(counters[i]), what,
				profile_counters[i].text);
}

static void print_ledger(const uint64_t *counters, FILE *out)
{
	fprintf(out, "\nwaits     %s seen = %s recorded + %s filtered + %s lost\n",
		text_count(counters[PROF_SEEN]), text_count(counters[PROF_RECORDED]),
		text_count(counters_sum(counters, COUNTER_FILTER)),
		text_count(counters_sum(counters, COUNTER_LOST)));
	print_causes(counters, COUNTER_FILTER, "filtered", out);
	print_causes(counters, COUNTER_LOST, "LOST", out);
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
		print_sums(&sum, LABEL_WIDTH, out);
		print_sum_hists(v, &sum, out);
	}
	print_outliers(r, out);
	if (r->counters)
		print_ledger(r->counters, out);
	return 0;
}
