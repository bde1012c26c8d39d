/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of the call tree share: tree_paths.c makes paths of samples, tree_filter.c leaves
 * some out, tree.c makes nodes of paths.
 */
#ifndef BPFPROF_PROFILE_TREE_PARTS_H
#define BPFPROF_PROFILE_TREE_PARTS_H

#include "profile/paths.h"

/* What a view has of paths: those with a name in its focus, and none that it ignores. */
struct tree_filter {
	const struct view *view;
	uint8_t *known; /* by name */
	size_t nr;
};

bool tree_filter_keeps(struct tree_filter *f, const struct tree *t, const struct step *steps,
		       uint32_t nr);
void tree_filter_release(struct tree_filter *f);

/* Adds the names to those of t. paths comes in empty. */
void tree_paths_of(struct tree *t, const struct view *v, struct tree_paths *paths);
void tree_paths_release(struct tree_paths *paths);

#endif
