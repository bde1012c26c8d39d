/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A function between its callers and its callees. Of a recursion the outermost call counts, and a
 * function that calls itself directly is one call, so that callers add up to the function's total,
 * and what it calls and has itself does, too.
 */
#ifndef BPFPROF_PROFILE_PEEK_H
#define BPFPROF_PROFILE_PEEK_H

#include "profile/module_names.h"
#include "profile/tree.h"

struct peek_edge {
	uint32_t name, module; /* in tree->names; of the profile */
	uint8_t kind;	       /* enum frame_kind; FRAME_NONE: a thread that it is the root of */
	uint64_t weight;
};

struct peek_edges {
	struct peek_edge *v; /* one for each function, heaviest first */
	size_t nr, cap;
};

struct peek {
	const struct tree *t;
	uint32_t name, module; /* module of the first occurrence */
	struct module_names modules;
	struct peek_edges callers, callees;
	uint64_t total, self;
	/* Its own: nodes of direct recursion. */
	uint32_t *todo;
	size_t cap_todo;
};

#define PEEK_ANY_MODULE UINT32_MAX

/*
 * Of a function by its name in the tree, which must stay, and by what its module is called; callers
 * are those towards the root.
 */
void peek_init(struct peek *p, const struct tree *t, uint32_t name, uint32_t module);
void peek_release(struct peek *p);

#endif
