/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares of functions, modules, lines, threads (profile/shares.h), for people and spreadsheets. */
#include <ctype.h>
#include <inttypes.h>

#include "base/csv.h"
#include "output/columns.h"
#include "output/json_put.h"
#include "output/output.h"
#include "profile/shares.h"

#define ROWS 40

static void add_columns(struct grid *g, const struct shares *s, enum view_by by)
{
	grid_add(g, (struct grid_column){ .head = s->has_total ? "SELF" : "SHARE" });
	if (s->has_total)
		grid_add(g, (struct grid_column){ .head = "TOTAL", .rank = 1 });
	if (by == VIEW_BY_FUNCTION)
		columns_add_place(g);
	else
		grid_add(g, (struct grid_column){ shares_heads[by], GRID_TEXT, .min = 24 });
}

static void put_row(struct grid *g, const struct shares *s, const struct share *row)
{
	grid_row(g, STYLE_PLAIN, NULL);
	columns_put_share(g, s->t, row->self);
	if (s->has_total)
		columns_put_share(g, s->t, row->total);
	grid_cell(g, "%s", row->name);
	if (*row->module)
		grid_cell(g, "%s", output_base_name(row->module));
}

/* Lines are not known of all code. */
static void put_unknown(const struct shares *s, FILE *out)
{
	uint64_t unknown = shares_unknown(s);

	if (unknown)
		fprintf(out, "%.1f%% is in code whose lines are not known\n",
			100.0 * unknown / s->t->nodes[0].total);
}

/* The tree belongs to the caller, and has to stay until shares_release(). */
static struct tree *shares_of(const struct profile *p, const struct view *v, struct shares *s)
{
	struct tree *t = tree_new(p, v);

	shares_init(s, t, v->by);
	shares_sort(s, v->sort);
	return t;
}

int shares_write(const struct profile *p, const struct view *v, FILE *out)
{
	size_t max = v->rows ? v->rows : ROWS;
	struct shares s;
	struct tree *t;
	struct grid g;

	t = shares_of(p, v, &s);
	grid_init(&g, out, NULL, 0);
	grid_whole(&g);
	add_columns(&g, &s, v->by);
	for (size_t i = 0; i < s.nr && i < max; i++)
		put_row(&g, &s, &s.v[i]);
	grid_end(&g);
	if (s.nr > max)
		fprintf(out, "… %zu more: give a larger --rows\n", s.nr - max);
	if (v->by == VIEW_BY_FILE || v->by == VIEW_BY_LINE)
		put_unknown(&s, out);
	columns_put_left_out(t, out);
	shares_release(&s);
	tree_free(t);
	return 0;
}

static void put_value(const struct profile *p, uint64_t value, FILE *out)
{
	fprintf(out, ",%" PRIu64, columns_shown(p, value));
}

int shares_write_csv(const struct profile *p, const struct view *v, FILE *out)
{
	struct shares s;
	struct tree *t;

	t = shares_of(p, v, &s);
	fputs(s.has_total ? "name,module,self,total\n" : "name,share\n", out);
	for (size_t i = 0; i < s.nr; i++) {
		csv_put(s.v[i].name, out);
		if (s.has_total) {
			fputc(',', out);
			csv_put(s.v[i].module, out);
			put_value(p, s.v[i].self, out);
		}
		put_value(p, s.v[i].total, out);
		fputc('\n', out);
	}
	shares_release(&s);
	tree_free(t);
	return 0;
}

int shares_write_json(const struct profile *p, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-shares"), *rows = json_object_new_array(),
			   *row;
	char by[16] = "";
	struct shares s;
	struct tree *t = shares_of(p, v, &s);

	for (size_t i = 0; shares_heads[v->by][i]; i++)
		by[i] = tolower((unsigned char)shares_heads[v->by][i]);
	json_object_object_add(o, "by", json_text(by));
	json_object_object_add(o, "unit", json_text(columns_unit(p)));
	json_put_count(o, "total", columns_shown(p, t->nodes[0].total));
	for (size_t i = 0; i < s.nr; i++) {
		row = json_object_new_object();
		json_object_object_add(row, "name", json_text(s.v[i].name));
		json_object_object_add(row, "module", json_text(s.v[i].module));
		json_put_count(row, "self", columns_shown(p, s.v[i].self));
		json_put_count(row, "total", columns_shown(p, s.v[i].total));
		json_object_array_add(rows, row);
	}
	json_object_object_add(o, "rows", rows);
	json_print(o, true, out);
	shares_release(&s);
	tree_free(t);
	return 0;
}
