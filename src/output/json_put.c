/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text, numbers and the ledger as json-c has them. */
#include "output/json_put.h"

#include <math.h>
#include <stdlib.h>

#include "base/text.h"

struct json_object *json_document(const char *format)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "format", json_text(format));
	json_put_count(o, "version", 1);
	return o;
}

struct json_object *json_text(const char *s)
{
	char *safe = text_cleaned(s);
	struct json_object *o = json_object_new_string(safe);

	free(safe);
	return o;
}

void json_put_count(struct json_object *o, const char *key, uint64_t n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

void json_put_number(struct json_object *o, const char *key, double x)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.6f", x);
	json_object_object_add(o, key, json_object_new_double_s(x, digits));
}

static struct json_object *by_cause(const uint64_t *counters, enum counter_kind kind)
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == kind)
			json_put_count(o, profile_counters[i].key, counters[i]);
	return o;
}

void json_put_ledger(struct json_object *o, const uint64_t counters[PROF_NR_COUNTERS])
{
	json_put_count(o, "seen", counters[PROF_SEEN]);
	json_put_count(o, "recorded", counters[PROF_RECORDED]);
	json_put_count(o, "filtered", counters_sum(counters, COUNTER_FILTER));
	json_put_count(o, "lost", counters_sum(counters, COUNTER_LOST));
	json_object_object_add(o, "filtered_by", by_cause(counters, COUNTER_FILTER));
	json_object_object_add(o, "lost_by", by_cause(counters, COUNTER_LOST));
	json_object_object_add(o, "notes", by_cause(counters, COUNTER_NOTE));
}

void json_put_expected(struct json_object *o, const struct expected *x)
{
	struct json_object *e = x ? json_object_new_object() : NULL;

	if (x) {
		json_put_count(e, "least", x->least);
		json_put_count(e, "most", x->most);
		json_put_count(e, "seen", x->seen);
		json_put_number(e, "difference_pct", expected_difference_pct(x));
	}
	json_object_object_add(o, "expected", e);
}

void json_print(struct json_object *o, bool pretty, FILE *out)
{
	int flags =
		pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED : JSON_C_TO_STRING_PLAIN;

	fputs(json_object_to_json_string_ext(o, flags), out);
	fputc('\n', out);
	json_object_put(o);
}

void json_put_text(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, json_text(s ? s : ""));
}

void json_put_string(struct json_object *o, const char *key, const struct profile *p,
		     uint32_t string)
{
	json_object_object_add(o, key, string ? json_text(profile_str(p, string)) : NULL);
}

void json_put_or_null(struct json_object *o, const char *key, double x)
{
	if (isnan(x))
		json_object_object_add(o, key, NULL);
	else
		json_put_number(o, key, x);
}

void json_put_end(struct json_object *o, uint64_t ended_by)
{
	static const char *const words[] = { [ENDED_BY_MEMORY] = "memory",
					     [ENDED_BY_OVERHEAD] = "overhead",
					     [ENDED_BY_PROBES] = "probes" };

	if (ended_by < sizeof(words) / sizeof(*words) && words[ended_by])
		json_put_text(o, "ended_by", words[ended_by]);
}

struct json_object *json_cost(const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	uint64_t seen = p->counters[PROF_SEEN], cpu_time = m->duration_ns * m->nr_cpus;
	struct json_object *o = json_object_new_object();

	json_put_number(o, "bpf_ns_per_sample", seen ? (double)m->bpf_ns / seen : 0);
	json_put_number(o, "bpf_share_of_cpus", cpu_time ? (double)m->bpf_ns / cpu_time : 0);
	json_put_number(o, "interrupts_share_of_cpus",
			cpu_time ? (double)m->interrupts_ns / cpu_time : 0);
	json_put_number(o, "max_overhead_pct", m->budget_ppm / 1e4);
	json_put_number(o, "thinned_s", m->thinned_ns / 1e9);
	json_put_count(o, "thinned_to_one_in", m->thinnest ? m->thinnest : 1);
	json_put_number(o, "spread_s", m->spread_ns / 1e9);
	json_put_number(o, "over_budget_s", m->over_ns / 1e9);
	json_put_number(o, "own_cpu_s", m->cpu_ns / 1e9);
	json_put_count(o, "rss_bytes", m->rss_bytes);
	json_put_number(o, "readers_cpu_s", m->readers_ns / 1e9);
	json_put_count(o, "readers_bytes", m->readers_bytes);
	json_put_count(o, "map_bytes", m->map_bytes);
	json_put_number(o, "first_sample_s", m->first_sample_ns / 1e9);
	json_put_number(o, "first_complete_stack_s", m->first_root_ns / 1e9);
	return o;
}
