/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A comparison for programs, by json-c. What is not known is null. */
#include <math.h>

#include "output/figures.h"
#include "output/json_put.h"
#include "output/stat.h"

static void put(struct json_object *o, const char *key, double x)
{
	json_object_object_add(o, key,
			       isfinite(x) ? json_object_new_double_s(x, figure_exact(x)) : NULL);
}

static void put_bool(struct json_object *o, const char *key, bool b)
{
	json_object_object_add(o, key, json_object_new_boolean(b));
}

static struct json_object *side(const struct stat_report *r, const char *name)
{
	struct json_object *o = json_object_new_object();

	json_put_text(o, "name", name);
	json_put_text(o, "host", r->host);
	json_put_text(o, "kernel", r->kernel);
	json_put_text(o, "cpu", r->cpu);
	json_put_text(o, "core_ident", r->core_ident);
	json_put_count(o, "nr_cpus", r->nr_cpus);
	json_put_text(o, "command", r->command);
	json_put_text(o, "target", r->target);
	json_put_count(o, "start_real_ns", r->start_real_ns);
	json_put_count(o, "runs", stat_number_nr(&r->seconds));
	return o;
}

static struct json_object *one_row(const struct diff_row *row)
{
	struct json_object *o = json_object_new_object();
	char rule[300];

	json_put_text(o, "name", row->name);
	json_put_text(o, "label", row->label);
	json_put_text(o, "unit", row->unit);
	put(o, "a", row->a);
	put(o, "b", row->b);
	put(o, "change_pct", row->change_pct);
	put(o, "low_pct", row->low_pct);
	put(o, "high_pct", row->high_pct);
	put_bool(o, "known", row->known);
	put_bool(o, "noise_known", row->noise_known);
	put_bool(o, "real", row->real);
	if (row->rule)
		diff_rule_text(row->rule, rule, sizeof(rule));
	json_object_object_add(o, "rule", row->rule ? json_text(rule) : NULL);
	put_bool(o, "failed", row->failed);
	return o;
}

int diff_write_json(const struct diff *c, FILE *out)
{
	struct json_object *o = json_document("bpfprof-diff"), *rows = json_object_new_array();

	json_object_object_add(o, "a", side(c->a, c->name_a));
	json_object_object_add(o, "b", side(c->b, c->name_b));
	for (size_t i = 0; i < c->nr; i++)
		json_object_array_add(rows, one_row(&c->v[i]));
	json_object_object_add(o, "rows", rows);
	json_put_count(o, "failed", c->nr_failed);
	json_put_count(o, "unknown", c->nr_unknown);
	json_print(o, true, out);
	return 0;
}
