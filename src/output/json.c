/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The summary and the table of broken stacks for programs, by json-c. All text is made valid UTF-8
 * first.
 */
#include <stdlib.h>
#include <string.h>

#include <json.h>

#include "base/text.h"
#include "output/output.h"
#include "profile/breaks.h"
#include "profile/top.h"

static struct json_object *text(const char *s)
{
	char *safe = text_cleaned(s);
	struct json_object *o = json_object_new_string(safe);

	free(safe);
	return o;
}

static void put_text(struct json_object *o, const char *key, const struct profile *p,
		     uint32_t string)
{
	json_object_object_add(o, key, string ? text(profile_str(p, string)) : NULL);
}

static void put_count(struct json_object *o, const char *key, uint64_t n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void put_number(struct json_object *o, const char *key, double x)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.6f", x);
	json_object_object_add(o, key, json_object_new_double_s(x, digits));
}

static struct json_object *facts(const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	struct json_object *o = json_object_new_object();

	put_text(o, "command", p, m->command);
	put_text(o, "target", p, m->target);
	put_text(o, "event", p, m->event);
	put_text(o, "event_note", p, m->event_note);
	put_count(o, "rate_hz", m->rate_hz);
	put_count(o, "cpus", m->nr_cpus);
	put_number(o, "start_s", m->start_ns / 1e9);
	put_number(o, "duration_s", m->duration_ns / 1e9);
	put_text(o, "host", p, m->host);
	put_text(o, "kernel", p, m->kernel);
	put_text(o, "arch", p, m->arch);
	put_text(o, "bpfprof", p, m->version);
	return o;
}

static struct json_object *by_cause(const struct profile *p, enum counter_kind kind)
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < PROF_NR_COUNTERS; i++)
		if (profile_counters[i].kind == kind)
			put_count(o, profile_counters[i].key, p->counters[i]);
	return o;
}

static struct json_object *ledger(const struct profile *p)
{
	struct json_object *o = json_object_new_object();

	put_count(o, "seen", p->counters[PROF_SEEN]);
	put_count(o, "recorded", p->counters[PROF_RECORDED]);
	put_count(o, "period_sum", profile_weight(p)); /* cycles, or ns of cpu-clock */
	put_count(o, "filtered", profile_sum(p, COUNTER_FILTER));
	put_count(o, "lost", profile_sum(p, COUNTER_LOST));
	json_object_object_add(o, "filtered_by", by_cause(p, COUNTER_FILTER));
	json_object_object_add(o, "lost_by", by_cause(p, COUNTER_LOST));
	put_count(o, "runs_skipped_by_kernel", p->meta.missed);
	put_count(o, "sideband_records_lost", p->meta.sideband_lost);
	return o;
}

static struct json_object *broken(const struct profile_broken by_end[UNWIND_NR_ENDS])
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < UNWIND_NR_ENDS; i++)
		put_count(o, unwind_end_keys[i], by_end[i].samples);
	return o;
}

static double pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

static void put_shares(struct json_object *o, const struct profile *p)
{
	put_number(o, "rooted_pct", 100 * profile_rooted_share(p));
	put_number(o, "guessed_pct", 100 * profile_guessed_share(p));
}

/* Of weight; all ends and rooted_pct add up to 100. */
static struct json_object *stacks(const struct profile *p,
				  const struct profile_broken by_end[UNWIND_NR_ENDS])
{
	struct json_object *o = json_object_new_object(), *ends = json_object_new_object();

	put_shares(o, p);
	for (size_t i = 0; i < UNWIND_NR_ENDS; i++)
		put_number(ends, unwind_end_keys[i], pct(by_end[i].weight, profile_weight(p)));
	json_object_object_add(o, "ends", ends);
	return o;
}

static struct json_object *cost(const struct profile *p)
{
	const struct profile_meta *m = &p->meta;
	uint64_t seen = p->counters[PROF_SEEN], cpu_time = m->duration_ns * m->nr_cpus;
	struct json_object *o = json_object_new_object();

	put_number(o, "bpf_ns_per_sample", seen ? (double)m->bpf_ns / seen : 0);
	put_number(o, "bpf_share_of_cpus", cpu_time ? (double)m->bpf_ns / cpu_time : 0);
	put_number(o, "own_cpu_s", m->cpu_ns / 1e9);
	put_count(o, "rss_bytes", m->rss_bytes);
	put_count(o, "map_bytes", m->map_bytes);
	put_number(o, "first_sample_s", m->first_sample_ns / 1e9);
	put_number(o, "first_complete_stack_s", m->first_root_ns / 1e9);
	return o;
}

static struct json_object *functions(const struct tree *t)
{
	struct json_object *list = json_object_new_array(), *o;
	size_t nr;
	struct top_row *rows = top_rows(t, &nr);

	for (size_t i = 0; i < nr; i++) {
		o = json_object_new_object();
		json_object_object_add(o, "name", text(t->names.bytes + rows[i].name));
		put_text(o, "module", t->profile, t->profile->modules[rows[i].module].path);
		put_count(o, "self", rows[i].self);
		put_count(o, "total", rows[i].total);
		json_object_array_add(list, o);
	}
	free(rows);
	return list;
}

static int print(struct json_object *o, FILE *out)
{
	fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED),
	      out);
	fputc('\n', out);
	json_object_put(o);
	return 0;
}

int json_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct json_object *o = json_object_new_object();
	struct profile_broken by_end[UNWIND_NR_ENDS];
	struct tree *t = tree_new(p, v);

	profile_broken_ends(p, by_end);
	json_object_object_add(o, "profile", facts(p));
	json_object_object_add(o, "samples", ledger(p));
	put_number(o, "rooted_share", profile_rooted_share(p));
	json_object_object_add(o, "broken_by", broken(by_end));
	json_object_object_add(o, "stacks", stacks(p, by_end));
	json_object_object_add(o, "cost", cost(p));
	json_object_object_add(o, "functions", functions(t));
	tree_free(t);
	return print(o, out);
}

static struct json_object *broken_row(const struct profile *p, const struct view *v,
				      const struct break_row *row, uint64_t all)
{
	const struct frame *f = &p->frames[row->frame];
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "module", text(break_module(p, row)));
	put_text(o, "process", p, row->process);
	put_text(o, "function", p, v->no_demangle && f->linkage ? f->linkage : f->name);
	json_object_object_add(o, "end", text(unwind_end_keys[row->end]));
	put_number(o, "pct", pct(row->weight, all));
	put_count(o, "samples", row->samples);
	put_count(o, "weight", row->weight);
	json_object_object_add(o, "why", text(unwind_end_texts[row->end]));
	json_object_object_add(o, "remedy", text(row->remedy));
	return o;
}

int broken_json_write(const struct profile *p, const struct view *v, FILE *out)
{
	struct json_object *o = json_object_new_object(), *rows = json_object_new_array();
	struct breaks b;

	breaks_init(&b, p);
	put_shares(o, p);
	put_number(o, "broken_pct", pct(b.weight, b.all));
	for (size_t i = 0; i < b.nr; i++)
		json_object_array_add(rows, broken_row(p, v, &b.rows[i], b.all));
	json_object_object_add(o, "broken", rows);
	breaks_release(&b);
	return print(o, out);
}
