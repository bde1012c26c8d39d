/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts and metrics for spreadsheets: one line for each number; the columns stand in counted.h. */
#include "output/stat.h"

#include <inttypes.h>
#include <math.h>

#include "base/csv.h"
#include "output/figures.h"

static const char header[] =
	"start_s,interval,elapsed_s,scope,pid,tid,scope_name,kind,set,name,label,value,unit,state,"
	"duty_pct,stderr,runs,raw,enabled_ns,running_ns,verdict,ok,high,why,"
	"formula,inputs,source,advice\n";

static void put_text(const char *s, FILE *out)
{
	csv_put(s, out);
	fputc(',', out);
}

static void put_number(double x, FILE *out)
{
	if (isfinite(x))
		fputs(figure_exact(x), out);
	fputc(',', out);
}

struct scope {
	const struct stat_report *r;
	const struct stat_row *row;
	const char *name; /* "all", "thread" …, "idle" */
};

static void put_scope(const struct scope *s, const char *kind, FILE *out)
{
	fprintf(out, "%.6f,", s->r->start_real_ns / 1e9);
	if (s->r->interval)
		fprintf(out, "%" PRIu32 ",%.6f,", s->r->interval, s->r->elapsed_s);
	else
		fputs(",,", out);
	fprintf(out, "%s,", s->name);
	if (s->row->pid)
		fprintf(out, "%" PRIu32, s->row->pid);
	fputc(',', out);
	if (s->row->tid)
		fprintf(out, "%" PRIu32, s->row->tid);
	fputc(',', out);
	put_text(s->row->name, out);
	fprintf(out, "%s,", kind);
}

static void put_repeats(const struct stat_number *n, FILE *out)
{
	put_number(stat_number_nr(n) > 1 ? n->error : NAN, out);
	fprintf(out, "%zu,", stat_number_nr(n));
}

static void put_metric(const struct scope *s, const struct stat_metric *m, FILE *out)
{
	put_scope(s, "metric", out);
	put_text(m->set, out);
	put_text(m->name, out);
	put_text(m->label, out);
	put_number(m->number.mean, out);
	put_text(m->unit, out);
	fputs(isnan(m->number.mean) ? "n/a,," : ",,", out);
	put_repeats(&m->number, out);
	put_number(m->raw, out);
	fprintf(out, ",,%s,", metric_verdict_key(m->verdict));
	put_number(m->ok, out);
	put_number(m->high, out);
	put_text(m->why, out);
	put_text(m->formula, out);
	put_text(m->inputs, out);
	put_text(m->source, out);
	csv_put(m->advice, out);
	fputc('\n', out);
}

static void put_event(const struct scope *s, const struct stat_event *e, FILE *out)
{
	put_scope(s, "event", out);
	put_text("", out);
	put_text(e->name, out);
	put_text(e->meaning, out);
	put_number(stat_event_value(e), out);
	put_text(e->unit, out);
	fprintf(out, "%s,", count_state_key(e->count.state));
	put_number(count_duty_pct(&e->count), out);
	put_repeats(&e->number, out);
	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,,", e->count.raw, e->count.enabled_ns,
		e->count.running_ns);
	put_text(e->why, out);
	fputs(",,,\n", out);
}

static void put_row(const struct stat_report *r, const struct stat_row *row, const char *name,
		    FILE *out)
{
	struct scope s = { r, row, name };

	for (size_t i = 0; i < row->nr_metrics; i++)
		put_metric(&s, &row->metrics[i], out);
	for (size_t i = 0; i < row->nr_events; i++)
		put_event(&s, &row->events[i], out);
}

static void put_time(const struct stat_report *r, FILE *out)
{
	struct scope s = { r, &r->all, stat_by_keys[STAT_BY_ALL] };

	put_scope(&s, "time", out);
	fputs(",\"time\",\"wall time\",", out);
	put_number(r->seconds.mean, out);
	fputs("\"s\",,,", out);
	put_repeats(&r->seconds, out);
	fputs(",,,,,,,,,,\n", out);
}

int stat_write_csv(const struct stat_report *r, FILE *out)
{
	if (r->interval <= 1)
		fputs(header, out);
	put_time(r, out);
	put_row(r, &r->all, stat_by_keys[STAT_BY_ALL], out);
	for (size_t i = 0; i < r->nr_rows; i++)
		put_row(r, &r->rows[i], stat_by_keys[r->by], out);
	put_row(r, &r->idle, "idle", out);
	put_row(r, &r->filtered, "filtered", out);
	put_row(r, &r->lost, "lost", out);
	return 0;
}
