/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions for programs: what each has of the weight, and where in its source code that is. */
#include "output/json_functions.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "output/json_put.h"
#include "profile/columns.h"
#include "profile/event_values.h"
#include "profile/module_names.h"
#include "profile/top.h"
#include "profile/waits.h"

/* Functions by their name and that of their module; keys stand for them. */
struct keys {
	struct module_names modules;
	struct strings strings;
};

static void keys_init(struct keys *k, const struct profile *p)
{
	module_names_init(&k->modules, p);
	strings_init(&k->strings);
}

static void keys_release(struct keys *k)
{
	strings_release(&k->strings);
	module_names_release(&k->modules);
}

static uint32_t key_of(struct keys *k, uint32_t name, uint32_t module)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%x %x", name, k->modules.of[module]);

	return strings_add(&k->strings, text, len);
}

/* Where in the source code most of it was, wherever in the tree. */
static struct source_lines lines_by_function(const struct tree *t, struct keys *k)
{
	struct source_lines lines = {};
	struct source_line row;

	for (size_t i = 0; i < t->lines.nr; i++) {
		row = t->lines.rows[i];
		if (t->nodes[row.of].waker)
			continue;
		row.of = key_of(k, t->nodes[row.of].name, t->nodes[row.of].module);
		source_lines_add(&lines, &row);
	}
	source_lines_merge(&lines);
	return lines;
}

/* NULL: none is known. */
static void put_line(struct json_object *o, const struct profile *p, const struct source_line *most)
{
	json_put_string(o, "file", p, most ? most->file : 0);
	if (most)
		json_put_count(o, "line", most->line);
	else
		json_object_object_add(o, "line", NULL);
}

static struct json_object *functions(const struct tree *t)
{
	struct json_object *list = json_object_new_array(), *o;
	struct source_lines lines;
	struct keys keys;
	size_t nr;
	struct top_row *rows = top_rows(t, &nr);
	bool time = t->profile->meta.is_time;

	keys_init(&keys, t->profile);
	lines = lines_by_function(t, &keys);
	for (size_t i = 0; i < nr; i++) {
		o = json_object_new_object();
		json_object_object_add(o, "name", json_text(t->names.bytes + rows[i].name));
		json_put_string(o, "module", t->profile, t->profile->modules[rows[i].module].path);
		json_put_count(o, "self", time ? waits_us(rows[i].self) : rows[i].self);
		json_put_count(o, "total", time ? waits_us(rows[i].total) : rows[i].total);
		put_line(o, t->profile,
			 source_lines_find(&lines, key_of(&keys, rows[i].name, rows[i].module)));
		json_object_array_add(list, o);
	}
	source_lines_release(&lines);
	keys_release(&keys);
	free(rows);
	return list;
}

/* The value of each event, by its name. */
static struct json_object *values_of(const struct profile *p, const uint64_t *by_event)
{
	struct json_object *o = json_object_new_object();
	char *safe;

	for (size_t i = 0; i < p->nr_events; i++) {
		safe = text_cleaned(profile_str(p, p->events[i].name));
		json_put_count(o, safe, by_event[i]);
		free(safe);
	}
	return o;
}

/* null: one of its terms was never counted. */
static struct json_object *column(const struct columns *c, const char *name, size_t i)
{
	struct columns_value v = columns_get(c, name, i);
	struct json_object *o = json_object_new_object();

	json_put_or_null(o, "value", v.value);
	json_put_number(o, "coverage_pct", 100 * v.coverage);
	return o;
}

/* Of a function, or of all with name NULL. */
static void put_columns(struct json_object *o, const struct columns *c, const char *name)
{
	const struct profile *p = c->profile;
	struct json_object *all = json_object_new_object();
	char *safe;

	for (size_t i = 0; i < p->nr_columns; i++) {
		safe = text_cleaned(profile_str(p, p->columns[i].name));
		json_object_object_add(all, safe, column(c, name, i));
		free(safe);
	}
	json_object_object_add(o, "columns", all);
}

static struct json_object *functions_of_events(const struct profile *p, const struct view *view)
{
	struct json_object *list = json_object_new_array(), *o;
	struct columns columns;
	struct event_values v;

	columns_init(&columns, p, view);
	event_values_init(&v, p, view, view_event(view, p));
	for (size_t i = 0; i < v.nr; i++) {
		o = json_object_new_object();
		json_object_object_add(o, "name", json_text(v.rows[i].name));
		json_put_string(o, "module", p, p->modules[v.rows[i].module].path);
		json_object_object_add(o, "self", values_of(p, v.rows[i].self));
		json_object_object_add(o, "total", values_of(p, v.rows[i].total));
		put_line(o, p, NULL);
		if (p->nr_columns)
			put_columns(o, &columns, v.rows[i].name);
		json_object_array_add(list, o);
	}
	event_values_release(&v);
	columns_release(&columns);
	return list;
}

/* Of several events each function has a value for each, in its own unit. */
void json_put_functions(struct json_object *o, const struct profile *p, const struct view *v)
{
	struct columns columns;
	struct tree *t;

	if (p->nr_columns) {
		columns_init(&columns, p, v);
		put_columns(o, &columns, NULL);
		columns_release(&columns);
	}
	if (profile_is_mixed(p) || p->nr_columns) {
		json_object_object_add(o, "unit", json_text("events"));
		json_object_object_add(o, "functions", functions_of_events(p, v));
		return;
	}
	t = tree_new(p, v);
	json_object_object_add(o, "unit", json_text(p->meta.is_time ? "us" : profile_unit(p)));
	json_object_object_add(o, "functions", functions(t));
	tree_free(t);
}
