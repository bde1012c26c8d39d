/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions between their callers and their callees. Of a recursion the outermost call counts, and
 * a function that calls itself directly is one call, so that callers add up to the function's
 * total, and what it calls and has itself does, too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "output/columns.h"
#include "output/output.h"
#include "profile/top.h"

#define FUNCTIONS 10
#define EDGES	  12

struct edge {
	uint32_t name, module;
	uint64_t weight;
};

struct edges {
	struct edge *v;
	size_t nr, cap;
};

struct peek {
	const struct tree *t;
	uint32_t name;
	struct edges callers, callees;
	uint64_t total, self;
	uint32_t *todo; /* nodes of direct recursion */
	size_t cap_todo;
};

static void add_edge(struct edges *e, const struct tree_node *n, uint64_t weight)
{
	e->v = xgrow(e->v, e->nr, &e->cap, sizeof(*e->v));
	e->v[e->nr++] = (struct edge){ n->name, n->module, weight };
}

static bool is_it(const struct peek *p, const struct tree_node *n)
{
	return n->name == p->name && n->kind != FRAME_NONE && !n->waker;
}

static bool is_outermost(const struct peek *p, const struct tree_node *n)
{
	const struct tree_node *nodes = p->t->nodes;

	while (n != nodes) {
		n = &nodes[n->parent];
		if (is_it(p, n))
			return false;
	}
	return true;
}

static void add_callees(struct peek *p, uint32_t outermost)
{
	const struct tree_node *nodes = p->t->nodes;
	size_t nr = 0;

	p->todo = xgrow(p->todo, nr, &p->cap_todo, sizeof(*p->todo));
	p->todo[nr++] = outermost;
	while (nr) {
		const struct tree_node *n = &nodes[p->todo[--nr]];

		p->self += n->self;
		for (uint32_t c = n->first_child; c; c = nodes[c].next) {
			if (!is_it(p, &nodes[c])) {
				add_edge(&p->callees, &nodes[c], nodes[c].total);
				continue;
			}
			p->todo = xgrow(p->todo, nr, &p->cap_todo, sizeof(*p->todo));
			p->todo[nr++] = c;
		}
	}
}

static int by_name(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	return a->name < b->name ? -1 : a->name > b->name;
}

static int by_weight(const void *x, const void *y)
{
	const struct edge *a = x, *b = y;

	return a->weight > b->weight ? -1 : a->weight < b->weight ? 1 : by_name(x, y);
}

/* One for each name, heaviest first. */
static void merge(struct edges *e)
{
	size_t nr = 0;

	if (!e->nr)
		return;
	qsort(e->v, e->nr, sizeof(*e->v), by_name);
	for (size_t i = 0; i < e->nr; i++) {
		if (nr && e->v[nr - 1].name == e->v[i].name)
			e->v[nr - 1].weight += e->v[i].weight;
		else
			e->v[nr++] = e->v[i];
	}
	e->nr = nr;
	qsort(e->v, e->nr, sizeof(*e->v), by_weight);
}

static void look(struct peek *p)
{
	const struct tree_node *nodes = p->t->nodes;

	for (uint32_t i = 1; i < p->t->nr; i++) {
		if (!is_it(p, &nodes[i]) || !is_outermost(p, &nodes[i]))
			continue;
		p->total += nodes[i].total;
		add_edge(&p->callers, &nodes[nodes[i].parent], nodes[i].total);
		add_callees(p, i);
	}
	merge(&p->callers);
	merge(&p->callees);
}

static void put_edge(struct grid *g, const struct tree *t, const struct edge *e, const char *how,
		     enum style style)
{
	grid_row(g, style, NULL);
	columns_put_share(g, t, e->weight);
	grid_cell(g, "%s", how);
	columns_put_place(g, t->profile, t->names.bytes + e->name, e->module);
}

static void put_edges(struct grid *g, const struct tree *t, const struct edges *e, const char *how)
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
	struct edge whole = { row->name, row->module, p->total };
	struct edge self = { row->name, row->module, p->self };
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

	return a->total > b->total ? -1 : a->total < b->total ? 1 : a->name < b->name ? -1 : 1;
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

int peek_write(const struct profile *profile, const struct view *v, FILE *out)
{
	struct tree *t = tree_new(profile, v);
	size_t nr, max = v->rows ? v->rows : FUNCTIONS;
	struct top_row *rows = matching(t, v->peek, &nr);

	for (size_t i = 0; i < nr && i < max; i++) {
		struct peek p = { .t = t, .name = rows[i].name };

		look(&p);
		put_function(&p, &rows[i], out);
		free(p.callers.v);
		free(p.callees.v);
		free(p.todo);
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
