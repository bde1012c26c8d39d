/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Made-up results of stat whose numbers are known: what was counted, with metrics and threads. */
#ifndef BPFPROF_TESTS_UNIT_MADE_STAT_H
#define BPFPROF_TESTS_UNIT_MADE_STAT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "metric/stat.h"

#define HOSTILE	     "a\x1b[2J\xff|`<b>\n\",;=1"
#define HOSTILE_SAFE "a?[2J\xef\xbf\xbd|`<b>?\",;=1"

/* nr runs around mean, that differ by noise: their mean is exactly that. */
static inline struct stat_number made_number(double mean, double noise, size_t nr)
{
	struct stat_number n = { .nr_runs = nr, .runs = xcalloc(nr + 1, sizeof(double)) };

	for (size_t i = 0; i < nr; i++)
		n.runs[i] = mean + noise * ((double)i - (nr - 1) / 2.0);
	stat_number_finish(&n);
	return n;
}

static inline struct stat_event *made_event(struct stat_row *row, const char *name, double value,
					    size_t nr, double duty)
{
	struct stat_event *e;

	row->events = xreallocarray(row->events, row->nr_events + 1, sizeof(*row->events));
	e = &row->events[row->nr_events++];
	*e = (struct stat_event){ .name = xstrdup(name),
				  .unit = xstrdup(""),
				  .meaning = xstrdup(""),
				  .why = xstrdup("") };
	e->count.state = duty < 1 ? COUNT_SCALED : COUNT_COUNTED;
	e->count.value = value * nr;
	e->count.raw = (uint64_t)(value * nr * duty);
	e->count.enabled_ns = 1000000000 * nr;
	e->count.running_ns = (uint64_t)(1000000000 * nr * duty);
	e->number = made_number(value, 0, nr);
	return e;
}

static inline struct stat_event *made_missing(struct stat_row *row, const char *name,
					      enum count_state state)
{
	struct stat_event *e = made_event(row, name, 0, 0, 1);

	e->count = (struct count){ .state = state };
	return e;
}

static inline struct stat_metric *made_metric(struct stat_row *row, const char *set,
					      const char *name, const char *label, const char *unit,
					      const char *formula, double value, size_t nr)
{
	struct stat_metric *m;

	row->metrics = xreallocarray(row->metrics, row->nr_metrics + 1, sizeof(*row->metrics));
	m = &row->metrics[row->nr_metrics++];
	*m = (struct stat_metric){ .set = xstrdup(set),
				   .name = xstrdup(name),
				   .label = xstrdup(label),
				   .unit = xstrdup(unit),
				   .formula = xstrdup(formula),
				   .advice = xstrdup(""),
				   .source = xstrdup(""),
				   .why = xstrdup(""),
				   .inputs = xstrdup(""),
				   .ok = NAN,
				   .high = NAN,
				   .raw = value };
	m->number = made_number(value, 0, nr);
	return m;
}

static inline void made_judge(struct stat_metric *m, double ok, double high, const char *advice)
{
	double value = m->number.mean;
	bool more = ok > high;

	m->ok = ok;
	m->high = high;
	free(m->source);
	free(m->advice);
	m->source = xstrdup("bpfprof-stat(8)");
	m->advice = xstrdup(advice);
	if (more ? value >= ok : value <= ok)
		m->verdict = METRIC_OK;
	else if (isnan(high) || (more ? value < high : value > high))
		m->verdict = METRIC_INVESTIGATE;
	else
		m->verdict = METRIC_WATCH;
}

static inline void made_text(char **field, const char *text)
{
	free(*field);
	*field = xstrdup(text);
}

static inline void made_environment(struct stat_report *r, size_t nr)
{
	r->host = xstrdup("web-1");
	r->kernel = xstrdup("6.1.0-37-arm64");
	r->arch = xstrdup("aarch64");
	r->cpu = xstrdup("Neoverse N1");
	r->core_ident = xstrdup("midr 0x414fd0c1");
	r->version = xstrdup("0.1");
	r->command = xstrdup("bpfprof stat -M topdown,cache -- ./server");
	r->target = xstrdup("./server --once");
	r->program = true;
	r->nr_cpus = 4;
	r->counters = 3;
	r->start_real_ns = 1732000000500000000;
	r->seconds = made_number(1.25, nr > 1 ? 0.01 : 0, nr);
	r->notes = xcalloc(1, sizeof(*r->notes));
	r->notes[r->nr_notes++] = xstrdup("topdown: cycle-based, by stall_frontend and "
					  "stall_backend: this PMU shows no slot events");
}

static inline void made_counts(struct stat_row *all, size_t nr)
{
	struct stat_event *e;

	made_event(all, "cpu_cycles", 4000000000, nr, 1);
	made_event(all, "inst_retired", 3200000000, nr, 1);
	e = made_event(all, "stall_frontend", 1000000000, nr, 0.3625);
	made_text(&e->meaning, "cycles in which nothing came from the front end");
	made_event(all, "stall_backend", 400000000, nr, 0.3612);
	made_event(all, "l1d_cache", 1000000000, nr, 0.15);
	made_event(all, "l1d_cache_refill", 120000000, nr, 0.3611);
	made_missing(all, "stall_backend_mem", COUNT_NOT_ADVERTISED);
	made_missing(all, "ll_cache_rd", COUNT_NOT_COUNTED);
}

static inline void made_metrics(struct stat_row *all, size_t nr)
{
	struct stat_metric *m;

	m = made_metric(all, "topdown", "ipc", "instructions per cycle", "",
			"inst_retired / cpu_cycles", 0.8, nr);
	made_judge(m, 1.5, 0.5, "where the cycles go: -M topdown");
	made_text(&m->inputs, "inst_retired 3,200,000,000 / cpu_cycles 4,000,000,000");
	m = made_metric(all, "topdown", "frontend_bound", "front-end stalls", "% of cycles",
			"100 * stall_frontend / cpu_cycles", 25, nr);
	made_judge(m, 10, 20, "instruction cache, iTLB and code size: -M cache,tlb");
	made_text(&m->inputs, "stall_frontend 1,000,000,000 (36.25%) / cpu_cycles 4,000,000,000");
	m = made_metric(all, "topdown", "backend_bound", "back-end stalls", "% of cycles",
			"100 * stall_backend / cpu_cycles", 10, nr);
	made_judge(m, 30, 40, "caches and TLBs");
	made_text(&m->inputs, "stall_backend 400,000,000 (36.12%) / cpu_cycles 4,000,000,000");
	m = made_metric(all, "topdown", "backend_mem", "back-end stalls on memory", "%",
			"100 * stall_backend_mem / cpu_cycles", NAN, nr);
	made_text(&m->why, "stall_backend_mem is not advertised by this PMU");
	m = made_metric(all, "cache", "l1d_miss", "L1D misses", "%",
			"100 * l1d_cache_refill / l1d_cache", 12, nr);
	made_judge(m, 5, 10, "data layout, false sharing, random access");
	made_text(&m->inputs, "l1d_cache_refill 120,000,000 (36.11%) / l1d_cache 1,000,000,000 "
			      "(15.00%)");
	made_text(&m->why, "its terms were counted for 36.11 % and 15.00 % of the time");
	m = made_metric(all, "cache", "l1d_mpki", "L1D misses", "per 1,000 instructions",
			"1000 * l1d_cache_refill / inst_retired", 37.5, nr);
	made_judge(m, 20, NAN, "data layout");
	m = made_metric(all, "roofline", "bytes_per_s", "bytes read (core-side estimate)",
			"bytes/s", "64 * ll_cache_rd / seconds", 12345678901.0, nr);
}

/* One result, of nr runs. */
static inline struct stat_report made_report(size_t nr)
{
	struct stat_report r = {};

	made_environment(&r, nr);
	r.all.name = xstrdup("");
	made_counts(&r.all, nr);
	made_metrics(&r.all, nr);
	return r;
}

/* nr threads whose cycles are 1, 2, 3 … million, and what is in none; all of it adds up. */
static inline void made_threads(struct stat_report *r, size_t nr)
{
	double sum = 0;
	char name[32];

	r->by = STAT_BY_THREAD;
	r->rows = xcalloc(nr + 1, sizeof(*r->rows));
	for (size_t i = 0; i < nr; i++) {
		struct stat_row *row = &r->rows[r->nr_rows++];

		snprintf(name, sizeof(name), "worker-%zu", i);
		row->name = xstrdup(i == 1 ? HOSTILE : name);
		row->pid = 4000;
		row->tid = (uint32_t)(4000 + i);
		row->switches = 10 * i;
		row->running_ns = (i + 1) * 1000000;
		made_event(row, "cpu_cycles", (i + 1) * 1e6, 1, 1);
		made_event(row, "inst_retired", (i + 1) * 8e5, 1, 1);
		made_metric(row, "topdown", "ipc", "instructions per cycle", "",
			    "inst_retired / cpu_cycles", 0.8, 1);
		sum += (i + 1) * 1e6;
	}
	r->idle.name = xstrdup("idle");
	made_event(&r->idle, "cpu_cycles", 3e6, 1, 1);
	r->lost.name = xstrdup("lost");
	made_event(&r->lost, "cpu_cycles", 4000000000 - 3e6 - sum, 1, 1);
}

#endif
