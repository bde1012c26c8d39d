/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The machine and its events, for programs, by json-c. */
#include "output/events.h"
#include "output/json_put.h"

static void put_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, text ? json_text(text) : NULL);
}

static void put_bool(struct json_object *o, const char *key, bool yes)
{
	json_object_object_add(o, key, json_object_new_boolean(yes));
}

static struct json_object *event(const struct events_row *row)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "name", row->name);
	put_text(o, "pmu", row->pmu);
	put_text(o, "source", row->source);
	put_text(o, "state", row->state);
	put_bool(o, "advertised", row->advertised);
	put_bool(o, "per_task", row->per_task);
	json_put_count(o, "type", row->type);
	json_put_count(o, "config", row->config);
	json_put_count(o, "config1", row->config1);
	put_text(o, "unit", row->unit);
	put_text(o, "meaning", row->meaning);
	return o;
}

int events_write_json(const struct events_report *r, FILE *out)
{
	struct json_object *o = json_document("bpfprof-events"), *events = json_object_new_array();

	put_text(o, "cpu", r->cpu);
	put_text(o, "core", r->core);
	put_text(o, "core_ident", r->core_ident);
	json_put_count(o, "cpus", r->nr_cpus);
	put_text(o, "pmu", r->pmu);
	json_put_count(o, "counters", r->counters);
	json_put_count(o, "branch_stack_depth", r->branch_stack_depth);
	put_bool(o, "spe", r->spe);
	for (size_t i = 0; i < r->nr_rows; i++)
		json_object_array_add(events, event(&r->rows[i]));
	json_object_object_add(o, "events", events);
	json_print(o, true, out);
	return 0;
}
