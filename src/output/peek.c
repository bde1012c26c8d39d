/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions between their callers and their callees (profile/peek.h). */
#include <stdlib.h>

#include "output/columns.h"
#include "output/json_put.h"
#include "output/output.h"
#include "profile/peek.h"
#include "profile/top.h"

#define FUNCTIONS 10
#define EDGES	  12

static void put_edge(struct grid *g, const struct tree *t, const struct peek_edge *e,
		     const char *how, enum style style)
{
	grid_row(g, style, NULL);
	columns_put_share(g, t, e->weight);
	grid_cell(g, "%s", how);
	columns_put_place(g, t->profile, t->names.bytes + e->name, e->module);
}

static void put_edges(struct grid *g, const struct tree *t, const struct peek_edges *e,
		      const char *how)
{
	uint64_t rest = 0;

	for (size_t i = 0; i < e->nr && i < EDGES; i++)
		put_edge(g, t, &e->v[i], how, STYLE_PLAIN);
	for (size_t i = EDGES; i < e->nr; i++)
		rest += e->v[i].weight;
	if (e->nr <= EDGES)
		return;
	grid_row(g, STYLE_IDLE, NULL);
	columns_put_share(g, t, rest);
	grid_cell(g, "%s", how);
	grid_cell(g, "… %zu more", e->nr - EDGES);
}

static void put_function(const struct peek *p, const struct top_row *row, FILE *out)
{
	static const struct grid_column columns[] = { { "SHARE", .rank = 0 },
						      { "", GRID_TEXT, .rank = 0 } };
	struct peek_edge whole = { row->name, row->module, row->kind, p->total };
	struct peek_edge self = { row->name, row->module, row->kind, p->self };
	struct grid g;

	grid_init(&g, out, columns, 2);
	grid_whole(&g);
	columns_add_place(&g);
	put_edges(&g, p->t, &p->callers, "called by");
	put_edge(&g, p->t, &whole, "", STYLE_HEAD);
	put_edge(&g, p->t, &self, "itself", STYLE_PLAIN);
	put_edges(&g, p->t, &p->callees, "calls");
	grid_end(&g);
}

static int by_total(const void *x, const void *y)
{
	const struct top_row *a = x, *b = y;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	return a->module < b->module ? -1 : a->module > b->module;
}

/* Those that match, heaviest first. */
static struct top_row *matching(const struct tree *t, const regex_t *re, size_t *nr)
{
	struct top_row *rows = top_rows(t, nr);
	size_t kept = 0;

	for (size_t i = 0; i < *nr; i++)
		if (!regexec(re, t->names.bytes + rows[i].name, 0, NULL, 0))
			rows[kept++] = rows[i];
	*nr = kept;
	if (kept)
		qsort(rows, kept, sizeof(*rows), by_total);
	return rows;
}

static struct json_object *edges(const struct tree *t, const struct peek_edges *e)
{
	struct json_object *list = json_object_new_array(), *one;
	const struct profile *p = t->profile;

	for (size_t i = 0; i < e->nr; i++) {
		one = json_object_new_object();
		json_object_object_add(one, "name", json_text(t->names.bytes + e->v[i].name));
		json_object_object_add(one, "module",
				       json_text(profile_str(p, p->modules[e->v[i].module].path)));
		json_put_count(one, "weight", columns_shown(p, e->v[i].weight));
		json_object_array_add(list, one);
	}
	return list;
}

static struct json_object *function(const struct tree *t, const struct top_row *row)
{
	struct json_object *o = json_object_new_object();
	const struct profile *profile = t->profile;
	struct peek p;

	peek_init(&p, t, row->name, row->module);
	json_object_object_add(o, "name", json_text(t->names.bytes + row->name));
	json_object_object_add(o, "module",
			       json_text(profile_str(profile, profile->modules[row->module].path)));
	json_put_count(o, "total", columns_shown(profile, p.total));
	json_put_count(o, "self", columns_shown(profile, p.self));
	json_object_object_add(o, "callers", edges(t, &p.callers));
	json_object_object_add(o, "callees", edges(t, &p.callees));
	peek_release(&p);
	return o;
}

int peek_write_json(const struct profile *profile, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-peek"), *list = json_object_new_array();
	struct tree *t = tree_new(profile, v);
	size_t nr, max = v->rows ? v->rows : SIZE_MAX;
	struct top_row *rows = matching(t, v->peek, &nr);

	json_object_object_add(o, "unit", json_text(columns_unit(profile)));
	json_put_count(o, "total", columns_shown(profile, t->nodes[0].total));
	json_put_count(o, "matching", nr);
	for (size_t i = 0; i < nr && i < max; i++)
		json_object_array_add(list, function(t, &rows[i]));
	json_object_object_add(o, "functions", list);
	json_print(o, true, out);
	free(rows);
	tree_free(t);
	return 0;
}

int peek_write(const struct profile *profile, const struct view *v, FILE *out)
{
	struct tree *t = tree_new(profile, v);
	size_t nr, max = v->rows ? v->rows : FUNCTIONS;
	struct top_row *rows = matching(t, v->peek, &nr);

	for (size_t i = 0; i < nr && i < max; i++) {
		struct peek p;

		peek_init(&p, t, rows[i].name, rows[i].module);
		put_function(&p, &rows[i], out);
		peek_release(&p);
	}
	if (!nr)
		fputs("no function matches\n", out);
	if (nr > max)
		fprintf(out, "… %zu more functions match\n", nr - max);
	columns_put_left_out(t, out);
	free(rows);
	tree_free(t);
	return 0;
}
