/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text format: of each metric a head, then all of its samples. Times are printed from whole
 * nanoseconds, so that a sum never seems to go back.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "serve/metrics_parts.h"

#define NS_PER_S UINT64_C(1000000000)

char *metrics_escape(const char *value)
{
	char *clean = text_cleaned(value), *text = xmalloc(2 * strlen(clean) + 1), *to = text;

	for (const char *s = clean; *s; s++) {
		if (*s == '\\' || *s == '"')
			*to++ = '\\';
		*to++ = *s;
	}
	*to = '\0';
	free(clean);
	return text;
}

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64 "\n", ns / NS_PER_S, ns % NS_PER_S);
}

static const char *class_name(uint32_t class)
{
	return class == METRICS_IDLE ? "idle" : wait_class_names[class];
}

static void put_owners(const struct metrics *m, FILE *out)
{
	struct metrics_owner *o;

	put_head(out, "bpfprof_cpu_seconds_total", "counter",
		 "CPU time of profiled processes, by samples.");
	for (o = m->owners; o; o = o->hh.next) {
		fprintf(out, "bpfprof_cpu_seconds_total{%s} ", o->labels);
		put_seconds(out, o->cpu_ns);
	}
	put_head(out, "bpfprof_offcpu_seconds_total", "counter",
		 "Time that threads waited, by what for; idle: workers without work.");
	for (o = m->owners; o; o = o->hh.next)
		for (uint32_t c = 0; c < METRICS_NR_CLASSES; c++) {
			if (!o->wait_ns[c])
				continue;
			fprintf(out, "bpfprof_offcpu_seconds_total{class=\"%s\",%s} ",
				class_name(c), o->labels);
			put_seconds(out, o->wait_ns[c]);
		}
}

/* labels: of the histogram, at least one. */
static void put_hist(const char *name, const char *labels, const struct metrics_hist *h, FILE *out)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < METRICS_BUCKETS; i++) {
		sum += h->counts[i];
		fprintf(out, "%s_bucket{%s,le=\"%.9f\"} %" PRIu64 "\n", name, labels,
			(double)(1ull << metrics_bound(i)) / NS_PER_S, sum);
	}
	fprintf(out, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, labels, h->count);
	fprintf(out, "%s_sum{%s} ", name, labels);
	put_seconds(out, h->sum_ns);
	fprintf(out, "%s_count{%s} %" PRIu64 "\n", name, labels, h->count);
}

/* Without waits that have ended there is none of its metric, which may have no head then. */
static bool has_hist(const struct metrics *m, uint32_t first, uint32_t last)
{
	for (const struct metrics_owner *o = m->owners; o; o = o->hh.next)
		for (uint32_t c = first; o->hists && c <= last; c++)
			if (o->hists[c].count)
				return true;
	return false;
}

static void put_run_queue(const struct metrics *m, FILE *out)
{
	if (!has_hist(m, METRICS_RUN_QUEUE, METRICS_RUN_QUEUE))
		return;
	put_head(out, "bpfprof_runqueue_delay_seconds", "histogram",
		 "How long runnable threads waited for a CPU.");
	for (const struct metrics_owner *o = m->owners; o; o = o->hh.next)
		if (o->hists && o->hists[METRICS_RUN_QUEUE].count)
			put_hist("bpfprof_runqueue_delay_seconds", o->labels,
				 &o->hists[METRICS_RUN_QUEUE], out);
}

static void put_waits(const struct metrics *m, FILE *out)
{
	char *labels;

	if (!has_hist(m, 0, METRICS_IDLE))
		return;
	put_head(out, "bpfprof_offcpu_wait_seconds", "histogram",
		 "How long single waits were, by what for.");
	for (const struct metrics_owner *o = m->owners; o; o = o->hh.next)
		for (uint32_t c = 0; o->hists && c < METRICS_NR_CLASSES; c++) {
			if (!o->hists[c].count)
				continue;
			labels = xasprintf("class=\"%s\",%s", class_name(c), o->labels);
			put_hist("bpfprof_offcpu_wait_seconds", labels, &o->hists[c], out);
			free(labels);
		}
}

static void put_ledger(const struct metrics *m, FILE *out)
{
	static const char *const results[] = {
		[COUNTER_FILTER] = "filtered", [COUNTER_LOST] = "lost"
	};

	put_head(out, "bpfprof_events_total", "counter",
		 "What became of events: recorded, filtered or lost, and why.");
	fprintf(out, "bpfprof_events_total{result=\"recorded\",cause=\"\"} %" PRIu64 "\n",
		m->ledger[PROF_RECORDED]);
	for (size_t i = 0; i < PROF_NR_COUNTERS; i++) {
		const struct counter_info *c = &profile_counters[i];

		if (m->ledger[i] && (c->kind == COUNTER_FILTER || c->kind == COUNTER_LOST))
			fprintf(out,
				"bpfprof_events_total{result=\"%s\",cause=\"%s\"} %" PRIu64 "\n",
				results[c->kind], c->key, m->ledger[i]);
	}
}

/* Numbers without labels. */
static void put_number(FILE *out, const char *name, const char *help, double value)
{
	size_t len = strlen(name);

	put_head(out, name, len > 6 && !strcmp(name + len - 6, "_total") ? "counter" : "gauge",
		 help);
	fprintf(out, "%s %.15g\n", name, value);
}

static void put_own(const struct metrics *m, FILE *out)
{
	put_head(out, "bpfprof_build_info", "gauge", "The version, as a label.");
	fprintf(out, "bpfprof_build_info{version=\"%s\"} 1\n", BPFPROF_VERSION);
	put_number(out, "bpfprof_overhead_ratio",
		   "Share of the CPUs' time that bpfprof took in the last window.", m->overhead);
	put_number(out, "bpfprof_overhead_budget_ratio",
		   "Share that it may take; 0: there is no limit.", m->budget);
	put_number(out, "bpfprof_overhead_seconds_total", "CPU time that bpfprof took.",
		   (double)m->cost_ns / NS_PER_S);
	put_number(out, "bpfprof_thinned_seconds_total",
		   "Time in which something was left out to keep within the budget.",
		   (double)m->thinned_ns / NS_PER_S);
	put_number(out, "bpfprof_missed_runs_total",
		   "Runs of BPF programs that the kernel skipped.", (double)m->missed);
	put_number(out, "bpfprof_resident_memory_bytes", "Memory at its peak, with the readers.",
		   (double)m->rss_bytes);
	put_number(out, "bpfprof_windows_total", "Windows that were recorded.",
		   (double)m->nr_windows);
	put_number(out, "bpfprof_recorded_seconds_total", "Time that windows cover.",
		   (double)m->window_ns / NS_PER_S);
	put_number(out, "bpfprof_window_start_timestamp_seconds", "When the last window began.",
		   (double)m->start_ns / NS_PER_S);
}

static bool is_first(const struct metrics *m, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(m->rows[k].name, m->rows[i].name))
			return false;
	return true;
}

static void put_row(FILE *out, const struct metrics_row *r)
{
	bool has = *r->labels;

	fprintf(out, "%s%s%s%s %.15g\n", r->name, has ? "{" : "", r->labels, has ? "}" : "",
		r->value);
}

/* O(rows²), some dozens of them. */
static void put_rows(const struct metrics *m, FILE *out)
{
	for (size_t i = 0; i < m->nr_rows; i++) {
		const char *name = m->rows[i].name;
		size_t len = strlen(name);

		if (!is_first(m, i))
			continue;
		put_head(out, name,
			 len > 6 && !strcmp(name + len - 6, "_total") ? "counter" : "gauge",
			 m->rows[i].help);
		for (size_t k = i; k < m->nr_rows; k++)
			if (!strcmp(m->rows[k].name, name))
				put_row(out, &m->rows[k]);
	}
}

void metrics_write(const struct metrics *m, FILE *out)
{
	put_own(m, out);
	put_ledger(m, out);
	put_owners(m, out);
	put_run_queue(m, out);
	put_waits(m, out);
	put_rows(m, out);
}
