/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call tree: for people a line each, for programs a list of nodes with their parents. Lines
 * step in where ways part, and begin with a "+" there. A function that does nothing but call one
 * other has it below, without a "+": deep stacks stay readable.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "output/columns.h"
#include "output/json_put.h"
#include "output/output.h"
#include "profile/tree.h"

#define INDENT	   2
#define MAX_INDENT 60 /* beyond, lines do not step in any more */

struct lines {
	struct tree *t;
	struct grid grid;
	bool no_self; /* it would be the scheduler's, or of threads that ways upwards end in */
	double least; /* weight of a line */
	size_t nr, max;
	struct json_object *nodes; /* instead of the grid; NULL */
	uint32_t *row_of;	   /* by node; of those that are in nodes */
};

static struct json_object *add_node(struct lines *l, uint32_t parent, const char *name,
				    const char *module, uint64_t total)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "parent",
			       parent ? json_object_new_int64(l->row_of[parent]) : NULL);
	json_object_object_add(o, "name", json_text(name));
	json_object_object_add(o, "module", json_text(module));
	json_put_count(o, "total", columns_shown(l->t->profile, total));
	json_object_array_add(l->nodes, o);
	return o;
}

static void add_self(const struct lines *l, struct json_object *o, uint64_t self, size_t summed)
{
	json_object_object_add(o, "self", NULL);
	if (!l->no_self)
		json_put_count(o, "self", columns_shown(l->t->profile, self));
	json_put_count(o, "summed", summed);
}

/* Does it do nothing but call one other? */
static bool is_link(const struct lines *l, uint32_t id)
{
	const struct tree_node *n = &l->t->nodes[id];

	return id && !n->self && n->first_child && !l->t->nodes[n->first_child].next;
}

static void put_node(struct lines *l, uint32_t id, unsigned int indent)
{
	const struct tree_node *n = &l->t->nodes[id];
	const char *mark = is_link(l, n->parent) ? "  " : "+ ";
	const char *module = profile_str(l->t->profile, l->t->profile->modules[n->module].path);

	if (l->nodes) {
		l->row_of[id] = l->nr++;
		add_self(l, add_node(l, n->parent, tree_name(l->t, n), module, n->total), n->self,
			 0);
		return;
	}
	grid_row(&l->grid, STYLE_PLAIN, NULL);
	columns_put_share(&l->grid, l->t, n->total);
	if (!l->no_self)
		columns_put_share(&l->grid, l->t, n->self);
	grid_cell(&l->grid, "%*s%s%s", (int)(indent * INDENT), "", mark, tree_name(l->t, n));
	grid_cell(&l->grid, "%s", output_base_name(module));
	l->nr++;
}

/* What is too light for a line each: from here on all siblings are. */
static void put_rest(struct lines *l, uint32_t first, unsigned int indent)
{
	uint64_t weight = 0;
	size_t nr = 0;

	for (uint32_t id = first; id; id = l->t->nodes[id].next, nr++)
		weight += l->t->nodes[id].total;
	if (l->nodes) {
		l->nr++;
		add_self(l, add_node(l, l->t->nodes[first].parent, "", "", weight), 0, nr);
		return;
	}
	grid_row(&l->grid, STYLE_IDLE, NULL);
	columns_put_share(&l->grid, l->t, weight);
	if (!l->no_self)
		grid_cell(&l->grid, "%s", "");
	grid_cell(&l->grid, "%*s+ … %zu more", (int)(indent * INDENT), "", nr);
	l->nr++;
}

/* Depth-first without recursion: hostile stacks are as deep as they like. False: there is more. */
static bool put_all(struct lines *l)
{
	unsigned int *indents = xcalloc(l->t->nr, sizeof(*indents));
	const struct tree_node *nodes = l->t->nodes;
	uint32_t at = nodes[0].first_child;

	while (at && l->nr < l->max) {
		bool is_heavy = nodes[at].total >= l->least;

		if (is_heavy)
			put_node(l, at, indents[at]);
		else
			put_rest(l, at, indents[at]);
		if (is_heavy && nodes[at].first_child) {
			indents[nodes[at].first_child] =
				indents[at] + (!is_link(l, at) && indents[at] < MAX_INDENT);
			at = nodes[at].first_child;
			continue;
		}
		while (at && (!nodes[at].next || nodes[at].total < l->least))
			at = nodes[at].parent;
		if (at)
			indents[nodes[at].next] = indents[at];
		at = nodes[at].next;
	}
	free(indents);
	return !at;
}

static void lines_init(struct lines *l, const struct profile *p, const struct view *v)
{
	*l = (struct lines){ .t = tree_new_turned(p, v),
			     .no_self = v->bottom_up || p->meta.is_time,
			     .max = v->rows ? v->rows : SIZE_MAX };
	l->least = l->t->nodes[0].total * v->percent_limit / 100;
}

int call_tree_write_json(const struct profile *p, const struct view *v, FILE *out)
{
	struct json_object *o = json_document("bpfprof-tree");
	struct lines l;

	lines_init(&l, p, v);
	l.nodes = json_object_new_array();
	l.row_of = xcalloc(l.t->nr, sizeof(*l.row_of));
	json_object_object_add(o, "bottom_up", json_object_new_boolean(v->bottom_up));
	json_object_object_add(o, "unit", json_text(columns_unit(p)));
	json_put_count(o, "total", columns_shown(p, l.t->nodes[0].total));
	json_put_number(o, "percent_limit", v->percent_limit);
	json_object_object_add(o, "complete", json_object_new_boolean(put_all(&l)));
	json_object_object_add(o, "nodes", l.nodes);
	json_print(o, true, out);
	free(l.row_of);
	tree_free(l.t);
	return 0;
}

int call_tree_write(const struct profile *p, const struct view *v, FILE *out)
{
	static const struct grid_column columns[] = { { "TOTAL", .rank = 0 },
						      { "SELF", .rank = 2 } };
	struct lines l;
	bool all;

	lines_init(&l, p, v);
	grid_init(&l.grid, out, columns, l.no_self ? 1 : 2);
	grid_whole(&l.grid);
	columns_add_place(&l.grid);
	all = put_all(&l);
	grid_end(&l.grid);
	if (!all)
		fputs("… more lines: give a larger --rows\n", out);
	columns_put_left_out(l.t, out);
	tree_free(l.t);
	return 0;
}
