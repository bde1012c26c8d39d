/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Timed calls by stack: how many each stack made, and how long these took. A sample of timed calls
 * with stacks says in which bucket of bpf/hist.h they were (PROF_WAIT_BUCKET), so samples of one
 * stack are its histogram. Stacks are those of the view: equal names are one.
 */
#ifndef BPFPROF_PROFILE_CALL_STACKS_H
#define BPFPROF_PROFILE_CALL_STACKS_H

#include "profile/runqlat.h"
#include "profile/tree.h"

struct call_stack {
	const char *function; /* as found */
	double per_s;
	/*
	 * The longest is the mean of the calls in the last bucket: exact for a single call, at most
	 * a fifth too low.
	 */
	struct runqlat_stats stats;
	const uint32_t *names; /* in call_stacks.tree, root first */
	size_t nr_names;
};

struct call_stacks {
	struct call_stack *rows; /* most time first */
	size_t nr, cap;
	struct tree tree; /* of which only the names are filled in */
	uint32_t *names;  /* of all rows */
};

/* Nothing of a profile without timed calls, or without stacks. */
void call_stacks_init(struct call_stacks *c, const struct profile *p, const struct view *v);
void call_stacks_release(struct call_stacks *c);

/* Frame i of a row, from the root on; safe to show. */
const char *call_stacks_name(const struct call_stacks *c, const struct call_stack *row, size_t i);

#endif
