/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions by weight: what a call tree says of each, wherever it stands. */
#ifndef BPFPROF_PROFILE_TOP_H
#define BPFPROF_PROFILE_TOP_H

#include "profile/tree.h"

struct top_row {
	uint32_t name;	 /* in tree->names */
	uint32_t module; /* of the profile, of the first one of its name */
	uint8_t kind;	 /* enum frame_kind */
	uint64_t self;	 /* samples with the function innermost; of waits, see below */
	uint64_t total;	 /* samples with it anywhere; recursion counts once */
};

/*
 * All functions, most self first, ties by total, then name. To be freed by the caller. Those of one
 * name are one in modules that are called alike (module_names.h). Thread names are not functions,
 * and wakers are others.
 *
 * Every wait has the scheduler innermost, which says nothing. So the function of the program that
 * waited has it as its own; of kernel threads the innermost one outside of the scheduler. Likewise
 * allocations belong to the function that called the allocator (allocator.h).
 */
struct top_row *top_rows(const struct tree *t, size_t *nr);

/* The node whose function has as its own what ends at this one, by the rule above; 0 = none. */
uint32_t top_owner(const struct tree *t, uint32_t node);

/* The same, but all of one name are one: of recordings that may have other modules. */
struct top_row *top_names(const struct tree *t, size_t *nr);

/* Modules likewise, by their path; name is that of a function in it. */
struct top_row *top_modules(const struct tree *t, size_t *nr);

#endif
