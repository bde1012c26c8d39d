/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows that come and go in the middle of others. */
#include "terminal/outline.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_INDENT 30 /* beyond, rows do not step in any more */

enum { OPEN = 1 };

static const struct tree_node *node_of(const struct outline *o, size_t row)
{
	return &o->t->nodes[o->rows[row].node];
}

/* Does it do nothing but call one other? */
static bool calls_one(const struct outline *o, uint32_t node)
{
	const struct tree_node *n = &o->t->nodes[node];

	return node && !n->self && n->first_child && !o->t->nodes[n->first_child].next;
}

static void add(struct outline *o, uint32_t node, uint32_t depth, uint32_t indent)
{
	o->rows = xgrow(o->rows, o->nr, &o->cap, sizeof(*o->rows));
	o->rows[o->nr++] = (struct outline_row){ node, depth, indent };
}

/*
 * The rows below a node that is open, in their order, behind all others. False: there would be more
 * than max. Without recursion: stacks are as deep as they like.
 */
static bool add_below(struct outline *o, struct outline_row top, size_t max)
{
	const struct tree_node *nodes = o->t->nodes;
	uint32_t *indents = NULL, at = top.node, indent; /* by depth below the top */
	size_t cap = 0, depth = 0;
	bool all = true;

	indents = xgrow(indents, 0, &cap, sizeof(*indents));
	indents[0] = top.indent;
	for (;;) {
		if (o->flags[at] & OPEN && nodes[at].first_child) {
			tree_sort_children(o->t, at, o->order);
			indent = indents[depth];
			indents = xgrow(indents, ++depth, &cap, sizeof(*indents));
			indents[depth] = indent + (at && !calls_one(o, at) && indent < MAX_INDENT);
			at = nodes[at].first_child;
		} else {
			for (; at != top.node && !nodes[at].next; depth--)
				at = nodes[at].parent;
			if (at == top.node)
				break;
			at = nodes[at].next;
		}
		all = o->nr < max;
		if (!all)
			break;
		add(o, at, top.depth + depth, indents[depth]);
	}
	free(indents);
	return all;
}

/* The rows behind nr go to a place further up. */
static void move_rows(struct outline *o, size_t from, size_t to)
{
	size_t nr = o->nr - from;
	struct outline_row *moved = xcalloc(nr + 1, sizeof(*moved));

	memcpy(moved, o->rows + from, nr * sizeof(*moved));
	memmove(o->rows + to + nr, o->rows + to, (from - to) * sizeof(*moved));
	memcpy(o->rows + to, moved, nr * sizeof(*moved));
	free(moved);
}

static bool add_rows_of(struct outline *o, size_t row, size_t max)
{
	size_t from = o->nr;
	bool all = add_below(o, o->rows[row], max);

	move_rows(o, from, row + 1);
	return all;
}

/* Of node 0 the children have depth 1 and indent 0; any other root is a row of depth 1. */
static void make_rows(struct outline *o)
{
	struct outline_row top = { .node = o->root, .depth = o->root ? 1 : 0 };

	o->nr = 0;
	if (o->root)
		add(o, o->root, top.depth, 0);
	else
		o->flags[0] |= OPEN;
	add_below(o, top, SIZE_MAX);
}

static void open_chain(struct outline *o, uint32_t node)
{
	const struct tree_node *nodes = o->t->nodes;

	o->flags[node] |= OPEN;
	for (uint32_t next = nodes[node].first_child; next && calls_one(o, next);
	     next = nodes[next].first_child)
		o->flags[next] |= OPEN;
}

void outline_init(struct outline *o, struct tree *t, uint32_t root)
{
	*o = (struct outline){ .t = t, .root = root };
	o->flags = xcalloc(t->nr, sizeof(*o->flags));
	if (root)
		open_chain(o, root);
	make_rows(o);
}

void outline_release(struct outline *o)
{
	free(o->flags);
	free(o->rows);
	*o = (struct outline){};
}

bool outline_has_children(const struct outline *o, size_t row)
{
	return node_of(o, row)->first_child;
}

bool outline_is_open(const struct outline *o, size_t row)
{
	return o->flags[o->rows[row].node] & OPEN;
}

bool outline_is_link(const struct outline *o, size_t row)
{
	return o->rows[row].node != o->root && calls_one(o, node_of(o, row)->parent);
}

/* Rows of what is below a row go. */
static void remove_rows_of(struct outline *o, size_t row)
{
	size_t end = row + 1;

	while (end < o->nr && o->rows[end].depth > o->rows[row].depth)
		end++;
	memmove(o->rows + row + 1, o->rows + end, (o->nr - end) * sizeof(*o->rows));
	o->nr -= end - row - 1;
}

void outline_expand(struct outline *o, size_t row)
{
	if (!outline_has_children(o, row) || outline_is_open(o, row))
		return;
	open_chain(o, o->rows[row].node);
	add_rows_of(o, row, SIZE_MAX);
}

void outline_collapse(struct outline *o, size_t row)
{
	o->flags[o->rows[row].node] &= ~OPEN;
	remove_rows_of(o, row);
}

/* All nodes of a subtree stand behind its top, but not in a row: they are walked. */
static void set_below(struct outline *o, uint32_t top, bool open)
{
	const struct tree_node *nodes = o->t->nodes;
	uint32_t at = top;

	for (;;) {
		o->flags[at] = open ? o->flags[at] | OPEN : o->flags[at] & ~OPEN;
		if (nodes[at].first_child) {
			at = nodes[at].first_child;
			continue;
		}
		while (at != top && !nodes[at].next)
			at = nodes[at].parent;
		if (at == top)
			return;
		at = nodes[at].next;
	}
}

bool outline_expand_all(struct outline *o, size_t row, size_t max)
{
	bool all;

	remove_rows_of(o, row);
	set_below(o, o->rows[row].node, true);
	all = add_rows_of(o, row, max);
	if (!all) {
		/* As it was, but for the first step. */
		remove_rows_of(o, row);
		set_below(o, o->rows[row].node, false);
		open_chain(o, o->rows[row].node);
		add_rows_of(o, row, SIZE_MAX);
	}
	return all;
}

void outline_collapse_all(struct outline *o, size_t row)
{
	set_below(o, o->rows[row].node, false);
	remove_rows_of(o, row);
}

size_t outline_parent(const struct outline *o, size_t row)
{
	size_t at = row;

	while (at && o->rows[at].depth >= o->rows[row].depth)
		at--;
	return o->rows[at].depth < o->rows[row].depth ? at : row;
}

static size_t row_of(const struct outline *o, uint32_t node)
{
	size_t row = 0;

	while (row < o->nr && o->rows[row].node != node)
		row++;
	assert(row < o->nr);
	return row;
}

size_t outline_reveal(struct outline *o, uint32_t node)
{
	const struct tree_node *nodes = o->t->nodes;
	bool changed = false;

	for (uint32_t at = node; at != o->root; at = nodes[at].parent) {
		changed |= !(o->flags[nodes[at].parent] & OPEN);
		o->flags[nodes[at].parent] |= OPEN;
	}
	if (changed)
		make_rows(o);
	return row_of(o, node);
}

uint8_t *outline_keep(const struct outline *o)
{
	uint8_t *kept = xmalloc(o->t->nr);

	memcpy(kept, o->flags, o->t->nr);
	return kept;
}

void outline_go_back(struct outline *o, const uint8_t *kept)
{
	memcpy(o->flags, kept, o->t->nr);
	make_rows(o);
}

void outline_sort(struct outline *o, enum tree_order order)
{
	o->order = order;
	make_rows(o);
}

/* The node that follows in the order of a tree that is wholly open; the root after the last. */
static uint32_t next_node(struct outline *o, uint32_t at)
{
	const struct tree_node *nodes = o->t->nodes;

	tree_sort_children(o->t, at, o->order);
	if (nodes[at].first_child)
		return nodes[at].first_child;
	while (at != o->root && !nodes[at].next)
		at = nodes[at].parent;
	return at == o->root ? at : nodes[at].next;
}

/* There are no links back: of the nodes on the way to from, the last one that matches. */
static uint32_t find_back(struct outline *o, uint32_t from, bool (*matches)(void *, uint32_t),
			  void *arg)
{
	uint32_t before = 0, last = 0;
	bool behind = false;

	for (uint32_t at = next_node(o, o->root); at != o->root; at = next_node(o, at)) {
		behind |= at == from;
		if (!matches(arg, at))
			continue;
		if (!behind)
			before = at;
		last = at;
	}
	return before ? before : last;
}

uint32_t outline_find(struct outline *o, uint32_t from, bool back,
		      bool (*matches)(void *arg, uint32_t node), void *arg)
{
	uint32_t at = from;

	if (back)
		return find_back(o, from, matches, arg);
	do {
		at = next_node(o, at);
		if (at != o->root && matches(arg, at))
			return at;
	} while (at != from);
	return 0;
}
