/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the call tree share: tree_paths.c makes paths of samples, tree_filter.c leaves
 * some out, tree.c makes nodes of paths.
 */
#ifndef BPFPROF_PROFILE_TREE_PARTS_H
#define BPFPROF_PROFILE_TREE_PARTS_H

#include "profile/tree.h"

/* One step of a path: what is shown, and what it is. */
struct step {
	uint32_t name;
	uint32_t module;
	uint16_t kind;
	uint16_t waker;
	uint32_t file, line; /* of the source code, strings of the profile; 0 = not known */
};

struct path {
	uint32_t first, nr; /* into steps */
	uint32_t sample;    /* of the profile; TREE_NO_SAMPLE */
	uint64_t count;	    /* in the tree's unit */
};
#define TREE_NO_SAMPLE UINT32_MAX /* of what was lost */

struct tree_paths {
	struct step *steps;
	size_t nr_steps, cap_steps;
	struct path *paths;
	size_t nr_paths, cap_paths;
};

/* What a view has of paths: those with a name in its focus, and none that it ignores. */
struct tree_filter {
	const struct view *view;
	uint8_t *known; /* by name */
	size_t nr;
};

bool tree_filter_keeps(struct tree_filter *f, const struct tree *t, const struct step *steps,
		       uint32_t nr);
void tree_filter_release(struct tree_filter *f);

/* Adds the names to those of t. paths comes in empty; the caller frees its arrays. */
void tree_paths_of(struct tree *t, const struct view *v, struct tree_paths *paths);

#endif
