/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call tree: samples of a profile merged by what is shown, root first. All stack outputs
 * (folded, svg, html) walk this and nothing else. Node 0 is "all"; its children are thread names;
 * below them user frames, then kernel frames. Of wake-ups, behind a node "--" follows who woke the
 * thread, leaf to root, then its name, and so on for who woke that one.
 */
#ifndef BPFPROF_PROFILE_TREE_H
#define BPFPROF_PROFILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/source_lines.h"
#include "profile/profile.h"
#include "profile/view.h"

/* Of siblings: most first, ties by name. */
enum tree_order { TREE_BY_TOTAL, TREE_BY_SELF, TREE_BY_NAME, TREE_NR_ORDERS };

struct tree_node {
	uint32_t name;	 /* id in tree->names: clean, no ';' */
	uint32_t module; /* of the profile, for colours and hover; 0 = none */
	uint8_t kind;	 /* enum frame_kind; FRAME_NONE for thread names, delimiters, notes */
	bool waker;	 /* of who woke the thread, not of the thread itself */
	uint8_t order;	 /* enum tree_order of its children */
	uint32_t parent;
	uint32_t first_child, next; /* siblings, as built by total; 0 = none */
	uint64_t self, total;	    /* in units of profile_unit() */
};

/* Where a sample went, node 0 = nowhere, and how much of it. */
struct tree_leaf {
	uint32_t node;
	uint64_t weight;
};

struct tree {
	struct tree_node *nodes;
	size_t nr, cap;
	const struct profile *profile;
	struct strings names;	   /* as shown: valid UTF-8, printable, no ';' */
	struct tree_leaf *leaves;  /* of each sample */
	uint64_t left_out;	   /* by view->focus and view->ignore; in no node */
	struct source_lines lines; /* of nodes, merged: how much of their total was where */
	struct source_lines own;   /* the same of what is their own; of = 0, for all nodes */
};

struct tree *tree_new(const struct profile *p, const struct view *v);
/* The same in the direction of the view: with bottom_up, functions come before their callers. */
struct tree *tree_new_turned(const struct profile *p, const struct view *v);
void tree_free(struct tree *t);

/*
 * Other weights in the same tree, of a part of its samples for instance: self of each node, and
 * what follows. Siblings keep their order, source lines their weights.
 */
void tree_weigh(struct tree *t, const uint64_t *self);
/* Then puts siblings in their order by these. */
void tree_sort(struct tree *t);

/* Puts the children of a node into another order; those who walk the tree see them so. */
void tree_sort_children(struct tree *t, uint32_t node, enum tree_order order);

static inline const char *tree_name(const struct tree *t, const struct tree_node *n)
{
	return t->names.bytes + n->name;
}

/*
 * Calls fn for each node with self > 0: depth-first, in sibling order. path is root (a thread name)
 * to node, nr ids.
 */
void tree_for_each_stack(const struct tree *t,
			 void (*fn)(const struct tree *t, const uint32_t *path, size_t nr,
				    void *arg),
			 void *arg);

#endif
