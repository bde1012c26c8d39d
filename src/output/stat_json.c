/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts and metrics for programs, by json-c: everything of the model, so that stat_read_json()
 * gives the report back. What is not there is null, next to a state that says why.
 */
#include "output/stat.h"

#include <math.h>

#include "output/figures.h"
#include "output/json_put.h"

static struct json_object *number(double x)
{
	return isfinite(x) ? json_object_new_double_s(x, figure_exact(x)) : NULL;
}

static void put(struct json_object *o, const char *key, double x)
{
	json_object_object_add(o, key, number(x));
}

static void put_runs(struct json_object *o, const struct stat_number *n)
{
	struct json_object *runs = json_object_new_array();

	for (size_t i = 0; i < n->nr_runs; i++)
		json_object_array_add(runs, number(n->runs[i]));
	put(o, "mean", n->mean);
	put(o, "stderr", n->error);
	json_object_object_add(o, "runs", runs);
}

static struct json_object *event(const struct stat_event *e)
{
	struct json_object *o = json_object_new_object();
	const struct count *c = &e->count;

	json_put_text(o, "name", e->name);
	json_put_text(o, "unit", e->unit);
	json_put_text(o, "meaning", e->meaning);
	json_put_text(o, "why", e->why);
	json_put_text(o, "state", count_state_key(c->state));
	put(o, "value", count_is_there(c) ? c->value : NAN);
	json_put_count(o, "raw", c->raw);
	json_put_count(o, "enabled_ns", c->enabled_ns);
	json_put_count(o, "running_ns", c->running_ns);
	put(o, "duty_pct", count_duty_pct(c));
	put_runs(o, &e->number);
	return o;
}

static struct json_object *metric(const struct stat_metric *m)
{
	struct json_object *o = json_object_new_object();

	json_put_text(o, "set", m->set);
	json_put_text(o, "name", m->name);
	json_put_text(o, "label", m->label);
	json_put_text(o, "unit", m->unit);
	put_runs(o, &m->number);
	put(o, "raw", m->raw);
	json_put_text(o, "verdict", metric_verdict_key(m->verdict));
	json_put_text(o, "why", m->why);
	put(o, "ok", m->ok);
	put(o, "high", m->high);
	json_put_text(o, "source", m->source);
	json_put_text(o, "formula", m->formula);
	json_put_text(o, "inputs", m->inputs);
	json_put_text(o, "advice", m->advice);
	return o;
}

static struct json_object *row(const struct stat_row *row)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();

	json_put_text(o, "name", row->name);
	json_put_count(o, "pid", row->pid);
	json_put_count(o, "tid", row->tid);
	json_put_count(o, "switches", row->switches);
	json_put_count(o, "running_ns", row->running_ns);
	for (size_t i = 0; i < row->nr_metrics; i++)
		json_object_array_add(list, metric(&row->metrics[i]));
	json_object_object_add(o, "metrics", list);
	list = json_object_new_array();
	for (size_t i = 0; i < row->nr_events; i++)
		json_object_array_add(list, event(&row->events[i]));
	json_object_object_add(o, "events", list);
	return o;
}

static void put_texts(struct json_object *o, const char *key, char *const *v, size_t nr)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < nr; i++)
		json_object_array_add(list, json_text(v[i]));
	json_object_object_add(o, key, list);
}

static void put_facts(struct json_object *o, const struct stat_report *r)
{
	struct json_object *list = json_object_new_array(), *one;

	for (size_t i = 0; i < r->nr_facts; i++) {
		one = json_object_new_object();
		json_put_text(one, "name", r->facts[i].name);
		json_put_text(one, "value", r->facts[i].value);
		json_put_text(one, "advice", r->facts[i].advice);
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "facts", list);
}

static void put_environment(struct json_object *o, const struct stat_report *r)
{
	json_put_text(o, "bpfprof", r->version);
	json_put_text(o, "host", r->host);
	json_put_text(o, "kernel", r->kernel);
	json_put_text(o, "arch", r->arch);
	json_put_text(o, "cpu", r->cpu);
	json_put_text(o, "core_ident", r->core_ident);
	json_put_count(o, "nr_cpus", r->nr_cpus);
	json_put_count(o, "counters", r->counters);
	json_put_text(o, "command", r->command);
	json_put_text(o, "target", r->target);
	put_texts(o, "selection", r->selection, r->nr_selection);
	json_object_object_add(o, "program", json_object_new_boolean(r->program));
	put_texts(o, "notes", r->notes, r->nr_notes);
	put_facts(o, r);
}

static void put_time(struct json_object *o, const struct stat_report *r)
{
	struct json_object *seconds = json_object_new_object();

	json_put_count(o, "start_real_ns", r->start_real_ns);
	put_runs(seconds, &r->seconds);
	json_object_object_add(o, "seconds", seconds);
	json_put_count(o, "interval", r->interval);
	put(o, "elapsed_s", r->elapsed_s);
}

/* A part of the ledger that is not there is null. */
static void put_rows(struct json_object *o, const struct stat_report *r)
{
	struct json_object *list = json_object_new_array();

	json_put_text(o, "by", stat_by_keys[r->by]);
	json_put_count(o, "named", r->nr_named);
	json_object_object_add(o, "all", row(&r->all));
	for (size_t i = 0; i < r->nr_rows; i++)
		json_object_array_add(list, row(&r->rows[i]));
	json_object_object_add(o, "rows", list);
	json_object_object_add(o, "idle", r->idle.name ? row(&r->idle) : NULL);
	json_object_object_add(o, "filtered", r->filtered.name ? row(&r->filtered) : NULL);
	json_object_object_add(o, "lost", r->lost.name ? row(&r->lost) : NULL);
}

static void put_hotspots(struct json_object *o, const struct stat_report *r)
{
	struct json_object *list = json_object_new_array(), *one;

	for (size_t i = 0; i < r->nr_hotspots; i++) {
		one = json_object_new_object();
		json_put_text(one, "symbol", r->hotspots[i].symbol);
		json_put_text(one, "module", r->hotspots[i].module);
		put(one, "self_pct", r->hotspots[i].self_pct);
		json_put_count(one, "samples", r->hotspots[i].samples);
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "hotspots_event",
			       r->hotspots_event ? json_text(r->hotspots_event) : NULL);
	json_put_count(o, "nr_samples", r->nr_samples);
	json_object_object_add(o, "hotspots", list);
}

int stat_write_json(const struct stat_report *r, FILE *out)
{
	struct json_object *o = json_document("bpfprof-stat");

	put_environment(o, r);
	put_time(o, r);
	put_rows(o, r);
	put_hotspots(o, r);
	json_print(o, !r->interval, out);
	return 0;
}
