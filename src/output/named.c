/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes and what they are called: a row each, or an object each. */
#include "output/named.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/grid.h"
#include "output/json_put.h"

static const char *value(const struct labels *l, const char *name)
{
	const char *text = labels_get(l, name);

	return text ? text : "";
}

/* Labels of rules and what else makes up the series, but for those that have a column. */
static char *further(const struct named_row *row)
{
	static const char *const shown[] = { "service_name", "container", "namespace", "pod",
					     "host" };
	char *text = xstrdup(""), *more;

	for (size_t i = 0; i < row->series.nr; i++) {
		const struct label *l = &row->series.v[i];
		bool has_column = false;

		for (size_t k = 0; k < sizeof(shown) / sizeof(*shown); k++)
			has_column |= !strcmp(l->name, shown[k]);
		if (has_column)
			continue;
		more = xasprintf("%s%s%s=%s", text, *text ? " " : "", l->name, l->value);
		free(text);
		text = more;
	}
	return text;
}

static void put_row(struct grid *g, const struct named_row *row)
{
	const struct labels *l = &row->all;
	char pid[16], *labels = further(row), *from;

	snprintf(pid, sizeof(pid), "%u", row->pid);
	from = row->dropped_by ? xasprintf("dropped, line %u", row->dropped_by)
			       : xstrdup(value(l, "service_from"));
	grid_row(g, row->dropped_by ? STYLE_IDLE : STYLE_PLAIN, pid, value(l, "comm"),
		 value(row->series.nr ? &row->series : l, "service_name"), from,
		 value(l, "container"), value(l, "namespace"), value(l, "pod"), value(l, "unit"),
		 labels, NULL);
	free(labels);
	free(from);
}

int named_write_text(const struct named_report *r, FILE *out)
{
	static const struct grid_column columns[] = {
		{ "PID", GRID_NUMBER, .rank = 0 },
		{ "NAME", GRID_TEXT, .min = 6, .rank = 5 },
		{ "SERVICE", GRID_TEXT, .min = 12 },
		{ "FROM", GRID_TEXT, .rank = 1, .min = 8 },
		{ "CONTAINER", GRID_TEXT, .rank = 2, .min = 10 },
		{ "NAMESPACE", GRID_TEXT, .rank = 4, .min = 8 },
		{ "POD", GRID_TEXT, .rank = 3, .min = 10 },
		{ "UNIT", GRID_TEXT, .rank = 6, .min = 10 },
		{ "LABELS", GRID_TEXT, .rank = 3, .min = 10 },
	};
	struct grid g;
	size_t dropped = 0;

	grid_init(&g, out, columns, sizeof(columns) / sizeof(*columns));
	g.first = true;
	grid_whole(&g);
	for (size_t i = 0; i < r->nr; i++) {
		put_row(&g, &r->rows[i]);
		dropped += r->rows[i].dropped_by != 0;
	}
	grid_end(&g);
	fprintf(out, "\n%zu process%s in %" PRIu64 " series", r->nr - dropped,
		r->nr - dropped == 1 ? "" : "es", r->nr_series);
	if (dropped)
		fprintf(out, ", %zu dropped by rules", dropped);
	fputs(".\n", out);
	return 0;
}

static struct json_object *object_of(const struct labels *l)
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < l->nr; i++)
		json_object_object_add(o, l->v[i].name, json_text(l->v[i].value));
	return o;
}

int named_write_json(const struct named_report *r, FILE *out)
{
	struct json_object *o = json_document("bpfprof-who"), *rows = json_object_new_array(), *row;

	json_object_object_add(o, "rules", r->rules ? json_text(r->rules) : NULL);
	json_put_count(o, "series", r->nr_series);
	for (size_t i = 0; i < r->nr; i++) {
		row = json_object_new_object();
		json_put_count(row, "pid", r->rows[i].pid);
		json_object_object_add(row, "dropped_by",
				       r->rows[i].dropped_by
					       ? json_object_new_int64(r->rows[i].dropped_by)
					       : NULL);
		json_object_object_add(row, "labels", object_of(&r->rows[i].all));
		json_object_object_add(row, "series", object_of(&r->rows[i].series));
		json_object_array_add(rows, row);
	}
	json_object_object_add(o, "processes", rows);
	json_print(o, true, out);
	return 0;
}
