/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for a CPU, for programs, by json-c: sums, all rows, all outliers, the ledger. */
#include <stdlib.h>
#include <string.h>

#include "output/json_put.h"
#include "output/runqlat.h"

static const char *const pct_keys[RUNQLAT_NR_PCTS] = { "p50_us", "p90_us", "p99_us", "p99_9_us" };

/* As people see it, without the zeros: 0 … 1 us, 2 … 3 us, 4 … 7 us. */
struct json_object *runqlat_log2_json(const struct prof_hist *h)
{
	struct json_object *list = json_object_new_array(), *o;
	uint64_t counts[RUNQLAT_LOG2_MAX];
	size_t nr = runqlat_log2(h, 1000, counts);

	for (size_t i = 0; i < nr; i++) {
		if (!counts[i])
			continue;
		o = json_object_new_object();
		json_put_count(o, "from", i ? 1ull << i : 0);
		json_put_count(o, "to", (2ull << i) - 1);
		json_put_count(o, "count", counts[i]);
		json_object_array_add(list, o);
	}
	return list;
}

/* As they were counted, those with waits. */
static struct json_object *buckets(const struct prof_hist *h)
{
	struct json_object *list = json_object_new_array(), *o;

	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++) {
		if (!h->count[i])
			continue;
		o = json_object_new_object();
		json_put_count(o, "from_ns", runqlat_bucket_ns(i));
		json_put_count(o, "count", h->count[i]);
		json_object_array_add(list, o);
	}
	return list;
}

/* Of no waits there is no such number. */
static void put_us(struct json_object *o, const char *key, uint64_t count, double ns)
{
	if (count)
		json_put_number(o, key, ns / 1e3);
	else
		json_object_object_add(o, key, NULL);
}

struct json_object *runqlat_hist_json(const struct prof_hist *h)
{
	struct json_object *o = json_object_new_object();
	struct runqlat_stats s = runqlat_stats(h);

	json_put_count(o, "count", s.count);
	json_put_number(o, "total_us", s.total_ns / 1e3);
	put_us(o, "mean_us", s.count, s.mean_ns);
	for (size_t i = 0; i < RUNQLAT_NR_PCTS; i++)
		put_us(o, pct_keys[i], s.count, s.pct_ns[i]);
	put_us(o, "max_us", s.count, s.max_ns);
	json_object_object_add(o, "log2_us", runqlat_log2_json(h));
	return o;
}

/* Whoever wants the buckets of both can add. */
static void put_kinds(struct json_object *o, const struct runqlat_row *l)
{
	struct prof_hist h;

	for (enum runqlat_kind kind = 0; kind < RUNQLAT_NR_KINDS; kind++) {
		struct json_object *waits;

		runqlat_get(l, kind, &h);
		waits = runqlat_hist_json(&h);
		if (kind != RUNQLAT_BOTH)
			json_object_object_add(waits, "buckets", buckets(&h));
		json_object_object_add(o, latency_kind_keys[kind], waits);
	}
}

static void put_comm(struct json_object *o, const char comm[PROF_COMM_LEN])
{
	char name[PROF_COMM_LEN + 1] = "";

	memcpy(name, comm, PROF_COMM_LEN);
	json_object_object_add(o, "name", json_text(name));
}

static struct json_object *row(const struct runqlat_report *r, const struct runqlat_row *l)
{
	struct json_object *o = json_object_new_object();

	if (r->by == PROF_HIST_BY_CPU) {
		json_put_count(o, "cpu", l->cpu);
	} else {
		json_put_count(o, "pid", l->pid);
		if (r->by == PROF_HIST_BY_THREAD)
			json_put_count(o, "tid", l->tid);
		put_comm(o, l->name);
	}
	put_kinds(o, l);
	return o;
}

static struct json_object *rows(const struct runqlat_report *r)
{
	struct json_object *list = json_object_new_array();
	size_t nr = r->nr_rows;
	const struct runqlat_row **sorted = runqlat_sorted(r->rows, &nr);

	for (size_t i = 0; i < nr; i++)
		json_object_array_add(list, row(r, sorted[i]));
	free(sorted);
	return list;
}

static struct json_object *ran(const struct prof_outlier *outlier)
{
	struct json_object *list = json_object_new_array(), *o;

	for (size_t i = 0; i < PROF_OUTLIER_RAN; i++) {
		const struct prof_ran *thread = &outlier->ran[i];

		if (!thread->ns)
			continue;
		o = json_object_new_object();
		json_put_count(o, "pid", thread->pid);
		json_put_count(o, "tid", thread->tid);
		put_comm(o, thread->comm);
		json_put_number(o, "ran_us", thread->ns / 1e3);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *outliers(const struct runqlat_report *r)
{
	struct json_object *list = json_object_new_array(), *o;

	for (size_t i = 0; i < r->nr_outliers; i++) {
		const struct prof_outlier *outlier = &r->outliers[i];

		o = json_object_new_object();
		json_put_number(o, "at_s", runqlat_outlier_at_s(r, outlier));
		json_put_number(o, "waited_us", outlier->wait_ns / 1e3);
		json_put_count(o, "pid", outlier->pid);
		json_put_count(o, "tid", outlier->tid);
		put_comm(o, outlier->comm);
		json_object_object_add(o, "kind", json_text(latency_kind_keys[outlier->kind]));
		json_put_count(o, "cpu", outlier->cpu);
		json_object_object_add(o, "ran", ran(outlier));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *facts(const struct runqlat_report *r)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "target", json_text(r->target ? r->target : ""));
	json_put_number(o, "start_s", r->start_real_ns / 1e9);
	json_put_number(o, "duration_s", r->duration_ns / 1e9);
	json_put_end(o, r->ended_by);
	if (r->interval)
		json_put_count(o, "interval", r->interval);
	if (r->split)
		json_object_object_add(o, "by", json_text(latency_by_keys[r->by]));
	if (r->threshold_ns)
		json_put_number(o, "threshold_us", r->threshold_ns / 1e3);
	return o;
}

int runqlat_write_json(const struct runqlat_report *r, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-runqlat"), *sub = json_object_new_object();
	struct runqlat_row sum;

	runqlat_sum(r->rows, r->nr_rows, &sum);
	json_object_object_add(o, "runqlat", facts(r));
	put_kinds(sub, &sum);
	json_object_object_add(o, "waits", sub);
	if (r->split)
		json_object_object_add(o, "rows", rows(r));
	if (r->threshold_ns) {
		json_object_object_add(o, "outliers", outliers(r));
		json_put_count(o, "outliers_lost", r->outliers_lost);
	}
	if (r->counters) {
		sub = json_object_new_object();
		json_put_ledger(sub, r->counters);
		json_object_object_add(o, "ledger", sub);
	}
	if (r->profile)
		json_object_object_add(o, "cost", json_cost(r->profile));
	json_print(o, !r->interval, out);
	return 0;
}
