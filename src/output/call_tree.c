/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call tree for people, a line each. Lines step in where ways part, and begin with a "+" there.
 * A function that does nothing but call one other has it below, without a "+": deep stacks stay
 * readable.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "output/columns.h"
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
};

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

int call_tree_write(const struct profile *p, const struct view *v, FILE *out)
{
	static const struct grid_column columns[] = { { "TOTAL", .rank = 0 },
						      { "SELF", .rank = 2 } };
	struct lines l = { .t = tree_new_turned(p, v),
			   .no_self = v->bottom_up || p->meta.is_time,
			   .max = v->rows ? v->rows : SIZE_MAX };
	bool all;

	l.least = l.t->nodes[0].total * v->percent_limit / 100;
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
