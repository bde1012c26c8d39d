/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for a CPU, for spreadsheets: sums, rows and outliers in one table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/runqlat.h"

static const char header[] = "record,start_s,duration_s,at_s,pid,tid,cpu,name,kind,count,"
			     "mean_us,p50_us,p90_us,p99_us,p99_9_us,max_us,total_us,ran\n";

/* Text as it may stand in quotes: safe, and quotes doubled. */
static void put_quoted(const char *name, FILE *out)
{
	char *safe = text_cleaned(name);

	for (const char *s = safe; *s; s++) {
		if (*s == '"')
			fputc('"', out);
		fputc(*s, out);
	}
	free(safe);
}

static void put_comm(const char comm[PROF_COMM_LEN], FILE *out)
{
	char name[PROF_COMM_LEN + 1] = "";

	memcpy(name, comm, PROF_COMM_LEN);
	put_quoted(name, out);
}

static void put_start(const struct runqlat_report *r, const char *record, FILE *out)
{
	fprintf(out, "%s,%.6f,%.6f,", record, r->start_real_ns / 1e9, r->duration_ns / 1e9);
}

/* at_s, pid, tid, cpu, name: those that a row has. */
static void put_who(const struct runqlat_report *r, const struct runqlat_row *l, FILE *out)
{
	if (!l) {
		fputs(",,,,,", out);
	} else if (r->by == PROF_HIST_BY_CPU) {
		fprintf(out, ",,,%" PRIu32 ",,", l->cpu);
	} else {
		fprintf(out, ",%" PRIu32 ",", l->pid);
		if (r->by == PROF_HIST_BY_THREAD)
			fprintf(out, "%" PRIu32, l->tid);
		fputs(",,\"", out);
		put_comm(l->name, out);
		fputs("\",", out);
	}
}

static void put_stats(const struct prof_hist *h, FILE *out)
{
	struct runqlat_stats s = runqlat_stats(h);

	fprintf(out, "%" PRIu64 ",%.3f,", s.count, s.mean_ns / 1e3);
	for (size_t i = 0; i < RUNQLAT_NR_PCTS; i++)
		fprintf(out, "%.3f,", s.pct_ns[i] / 1e3);
	fprintf(out, "%.3f,%.3f,\n", s.max_ns / 1e3, s.total_ns / 1e3);
}

/* who: l again, or NULL for the sum of all rows. */
static void put_lines(const struct runqlat_report *r, const char *record,
		      const struct runqlat_row *who, const struct runqlat_row *l, FILE *out)
{
	struct prof_hist h;

	for (enum runqlat_kind kind = 0; kind < RUNQLAT_NR_KINDS; kind++) {
		runqlat_get(l, kind, &h);
		if (!runqlat_count(&h))
			continue;
		put_start(r, record, out);
		put_who(r, who, out);
		fprintf(out, "%s,", latency_kind_keys[kind]);
		put_stats(&h, out);
	}
}

static void put_rows(const struct runqlat_report *r, FILE *out)
{
	size_t nr = r->nr_rows;
	const struct runqlat_row **rows = runqlat_sorted(r->rows, &nr);

	for (size_t i = 0; i < nr; i++)
		put_lines(r, "row", rows[i], rows[i], out);
	free(rows);
}

/* "10100.000 us 12/13 name; ": numbers first, since names may hold anything. */
static void put_ran(const struct prof_outlier *o, FILE *out)
{
	const char *between = "";

	for (size_t i = 0; i < PROF_OUTLIER_RAN; i++) {
		if (!o->ran[i].ns)
			continue;
		fprintf(out, "%s%.3f us %" PRIu32 "/%" PRIu32 " ", between, o->ran[i].ns / 1e3,
			o->ran[i].pid, o->ran[i].tid);
		put_comm(o->ran[i].comm, out);
		between = "; ";
	}
}

static void put_outlier(const struct runqlat_report *r, const struct prof_outlier *o, FILE *out)
{
	double us = o->wait_ns / 1e3;

	put_start(r, "outlier", out);
	fprintf(out, "%.6f,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",\"", runqlat_outlier_at_s(r, o),
		o->pid, o->tid, o->cpu);
	put_comm(o->comm, out);
	fprintf(out, "\",%s,1,,,,,,%.3f,%.3f,\"", latency_kind_keys[o->kind], us, us);
	put_ran(o, out);
	fputs("\"\n", out);
}

int runqlat_write_csv(const struct runqlat_report *r, const struct view *v, FILE *out)
{
	struct runqlat_row sum;

	if (r->interval <= 1)
		fputs(header, out);
	runqlat_sum(r->rows, r->nr_rows, &sum);
	put_lines(r, "total", NULL, &sum, out);
	if (r->split)
		put_rows(r, out);
	for (size_t i = 0; i < r->nr_outliers; i++)
		put_outlier(r, &r->outliers[i], out);
	return 0;
}
