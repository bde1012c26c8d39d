/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who has which share of a profile: functions, modules, lines, threads. What they have by
 * themselves adds up, since each stack has one innermost function; totals overlap.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "base/text.h"
#include "output/columns.h"
#include "output/json_put.h"
#include "output/output.h"
#include "profile/top.h"
#include "profile/waits.h"

#define ROWS 40

struct share {
	char *name;
	const char *module; /* "" = none */
	uint64_t self, total;
};

struct shares {
	const struct profile *p;
	struct tree *t;
	struct share *v;
	size_t nr, cap;
	bool has_total; /* else self is all there is */
};

static void add(struct shares *s, char *name, const char *module, uint64_t self, uint64_t total)
{
	s->v = xgrow(s->v, s->nr, &s->cap, sizeof(*s->v));
	s->v[s->nr++] = (struct share){ name, module, self, total };
}

static void add_functions(struct shares *s)
{
	size_t nr;
	struct top_row *rows = top_rows(s->t, &nr);

	for (size_t i = 0; i < nr; i++)
		add(s, xstrdup(s->t->names.bytes + rows[i].name),
		    profile_str(s->p, s->p->modules[rows[i].module].path), rows[i].self,
		    rows[i].total);
	s->has_total = true;
	free(rows);
}

static void add_modules(struct shares *s)
{
	size_t nr;
	struct top_row *rows = top_modules(s->t, &nr);

	for (size_t i = 0; i < nr; i++) {
		const char *path = profile_str(s->p, s->p->modules[rows[i].module].path);
		const char *none = rows[i].kind == FRAME_PYTHON ? "[python]" : "[none]";

		add(s, text_cleaned(*path ? path : none), "", rows[i].self, rows[i].total);
	}
	s->has_total = true;
	free(rows);
}

static int by_file(const void *x, const void *y)
{
	const struct source_line *a = x, *b = y;

	return a->file < b->file ? -1 : a->file > b->file;
}

static void add_line(struct shares *s, const struct source_line *l, bool whole_file)
{
	char *file = text_cleaned(profile_str(s->p, l->file));

	add(s, whole_file ? xstrdup(file) : xasprintf("%s:%" PRIu32, file, l->line), "", l->weight,
	    l->weight);
	free(file);
}

static void add_lines(struct shares *s, bool whole_files)
{
	const struct source_lines *own = &s->t->own;
	struct source_line *rows = xcalloc(own->nr + 1, sizeof(*rows));
	size_t nr = 0;

	for (size_t i = 0; i < own->nr; i++)
		rows[i] = own->rows[i];
	if (whole_files)
		qsort(rows, own->nr, sizeof(*rows), by_file);
	for (size_t i = 0; i < own->nr; i++) {
		if (whole_files && nr && rows[nr - 1].file == rows[i].file)
			rows[nr - 1].weight += rows[i].weight;
		else
			rows[nr++] = rows[i];
	}
	for (size_t i = 0; i < nr; i++)
		add_line(s, &rows[i], whole_files);
	free(rows);
}

/* Threads, processes, or classes: the first frames. */
static void add_owners(struct shares *s)
{
	const struct tree_node *nodes = s->t->nodes;

	for (uint32_t i = nodes[0].first_child; i; i = nodes[i].next)
		add(s, xstrdup(tree_name(s->t, &nodes[i])), "", nodes[i].total, nodes[i].total);
}

static int by_self(const void *x, const void *y)
{
	const struct share *a = x, *b = y;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void shares_init(struct shares *s, const struct profile *p, const struct view *v)
{
	*s = (struct shares){ .p = p, .t = tree_new(p, v) };
	if (v->by == VIEW_BY_FUNCTION)
		add_functions(s);
	else if (v->by == VIEW_BY_MODULE)
		add_modules(s);
	else if (v->by == VIEW_BY_FILE || v->by == VIEW_BY_LINE)
		add_lines(s, v->by == VIEW_BY_FILE);
	else
		add_owners(s);
	if (s->nr)
		qsort(s->v, s->nr, sizeof(*s->v), by_self);
}

static void shares_release(struct shares *s)
{
	for (size_t i = 0; i < s->nr; i++)
		free(s->v[i].name);
	free(s->v);
	tree_free(s->t);
}

static const char *const heads[VIEW_NR_BY] = {
	[VIEW_BY_FUNCTION] = "FUNCTION", [VIEW_BY_MODULE] = "MODULE", [VIEW_BY_FILE] = "FILE",
	[VIEW_BY_LINE] = "LINE",	 [VIEW_BY_THREAD] = "THREAD", [VIEW_BY_PROCESS] = "PROCESS",
	[VIEW_BY_CLASS] = "CLASS",
};

static void add_columns(struct grid *g, const struct shares *s, enum view_by by)
{
	grid_add(g, (struct grid_column){ .head = s->has_total ? "SELF" : "SHARE" });
	if (s->has_total)
		grid_add(g, (struct grid_column){ .head = "TOTAL", .rank = 1 });
	if (by == VIEW_BY_FUNCTION)
		columns_add_place(g);
	else
		grid_add(g, (struct grid_column){ heads[by], GRID_TEXT, .min = 24 });
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
	uint64_t all = s->t->nodes[0].total, known = 0;

	for (size_t i = 0; i < s->nr; i++)
		known += s->v[i].self;
	if (known < all)
		fprintf(out, "%.1f%% is in code whose lines are not known\n",
			100.0 * (all - known) / all);
}

int shares_write(const struct profile *p, const struct view *v, FILE *out)
{
	size_t max = v->rows ? v->rows : ROWS;
	struct shares s;
	struct grid g;

	shares_init(&s, p, v);
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
	columns_put_left_out(s.t, out);
	shares_release(&s);
	return 0;
}

/* Times in microseconds. */
static uint64_t shown(const struct profile *p, uint64_t value)
{
	return p->meta.is_time || p->meta.timed ? waits_us(value) : value;
}

static void put_value(const struct profile *p, uint64_t value, FILE *out)
{
	fprintf(out, ",%" PRIu64, shown(p, value));
}

int shares_write_csv(const struct profile *p, const struct view *v, FILE *out)
{
	struct shares s;

	shares_init(&s, p, v);
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
	return 0;
}

int shares_write_json(const struct profile *p, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-shares"), *rows = json_object_new_array(),
			   *row;
	bool time = p->meta.is_time || p->meta.timed;
	char by[16] = "";
	struct shares s;

	shares_init(&s, p, v);
	for (size_t i = 0; heads[v->by][i]; i++)
		by[i] = tolower((unsigned char)heads[v->by][i]);
	json_object_object_add(o, "by", json_text(by));
	json_object_object_add(o, "unit", json_text(time ? "us" : profile_unit(p)));
	json_put_count(o, "total", shown(p, s.t->nodes[0].total));
	for (size_t i = 0; i < s.nr; i++) {
		row = json_object_new_object();
		json_object_object_add(row, "name", json_text(s.v[i].name));
		json_object_object_add(row, "module", json_text(s.v[i].module));
		json_put_count(row, "self", shown(p, s.v[i].self));
		json_put_count(row, "total", shown(p, s.v[i].total));
		json_object_array_add(rows, row);
	}
	json_object_object_add(o, "rows", rows);
	json_print(o, true, out);
	shares_release(&s);
	return 0;
}
