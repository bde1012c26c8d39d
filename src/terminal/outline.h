/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of a call tree that are open: below a root, each node whose parent is expanded. A tree
 * may have millions of nodes; only those that were expanded are rows.
 *
 * As in printed trees, rows step in where ways part. A function that does nothing but call one
 * other has that below at the same indent, and opens with it.
 */
#ifndef BPFPROF_TERMINAL_OUTLINE_H
#define BPFPROF_TERMINAL_OUTLINE_H

#include <stdbool.h>

#include "profile/tree.h"

struct outline_row {
	uint32_t node;
	uint32_t depth;	 /* below the root */
	uint32_t indent; /* in steps */
};

struct outline {
	struct tree *t; /* siblings are put in order when they are first seen */
	uint32_t root;
	enum tree_order order;
	uint8_t *flags; /* by node */
	struct outline_row *rows;
	size_t nr, cap;
};

/* Node 0 has no row, its children are the first ones; any other root is the first row. */
void outline_init(struct outline *o, struct tree *t, uint32_t root);
void outline_release(struct outline *o);

bool outline_has_children(const struct outline *o, size_t row);
bool outline_is_open(const struct outline *o, size_t row);
/* Does it follow its caller as the only one that this calls? Then it is no branch. */
bool outline_is_link(const struct outline *o, size_t row);

void outline_expand(struct outline *o, size_t row);
void outline_collapse(struct outline *o, size_t row);
/* All below too, but at most so many rows in all; false: there is more. */
bool outline_expand_all(struct outline *o, size_t row, size_t max);
void outline_collapse_all(struct outline *o, size_t row);

/* The row of the caller; of first rows the row itself. */
size_t outline_parent(const struct outline *o, size_t row);
/* The row of a node, whose callers are expanded for it where they are not. */
size_t outline_reveal(struct outline *o, uint32_t node);

/* What is open, to go back to it. To be freed. */
uint8_t *outline_keep(const struct outline *o);
void outline_go_back(struct outline *o, const uint8_t *kept);

/* Nodes that are open stay so. */
void outline_sort(struct outline *o, enum tree_order order);

/*
 * The next node below the root that comes after another one (before it, with back) and that
 * matches; begins again at the end. 0 = none.
 */
uint32_t outline_find(struct outline *o, uint32_t from, bool back,
		      bool (*matches)(void *arg, uint32_t node), void *arg);

#endif
