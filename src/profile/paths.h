/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a view shows of each sample: a path of names from the root to the leaf. The call tree merges
 * them; formats that keep the addresses of code, and whose it was, write them as they are.
 */
#ifndef BPFPROF_PROFILE_PATHS_H
#define BPFPROF_PROFILE_PATHS_H

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
	uint32_t first, nr; /* into steps; equal paths may have the same ones */
	uint64_t count;	    /* in the tree's unit: the number of samples, or their weight */
	uint64_t samples;   /* how many; of waits and calls as well */
	uint64_t weight;
	uint32_t sample; /* of the profile; PATH_LOST: it stands for what was lost */
};

#define PATH_LOST UINT32_MAX

/* A step is of the same frame as the one before: functions that the compiler put into another. */
#define STEP_SAME_FRAME UINT32_MAX

struct tree_paths {
	struct step *steps;
	uint32_t *frames; /* by step: a frame of the profile, STEP_SAME_FRAME; 0 = a note, a name */
	bool with_frames; /* else there are none */
	size_t nr_steps, cap_steps, cap_frames;
	struct path *paths;
	size_t nr_paths, cap_paths;
};

/* Of all samples, with their frames. Names are in a tree without nodes, which goes with them. */
struct tree *tree_paths_new(const struct profile *p, const struct view *v,
			    struct tree_paths *paths);
void tree_paths_free(struct tree *t, struct tree_paths *paths);

#endif
