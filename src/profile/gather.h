/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows of a recording as one: samples of the same thread with the same stacks are one, and what
 * no sample refers to is left out. Totals, ledger and durations are the sums, to the last unit.
 *
 * Of one profile it makes the same with nothing in it that weighs nothing.
 */
#ifndef BPFPROF_PROFILE_GATHER_H
#define BPFPROF_PROFILE_GATHER_H

#include "profile/profile.h"

struct gather;

/*
 * Threads that lived for less than that in a window, but were born or ended in it, lose their ids
 * (pid and tid are 0): those of one name are one. 0: none does.
 */
struct gather *gather_new(uint64_t short_ns);

/* From here on each window is a slice of the result's time (profile.h): what it varies by. */
void gather_slices(struct gather *g);

/* Of each sample of the next window: which one it is in the result. They must stay until then. */
void gather_map(struct gather *g, uint32_t *ids);

/*
 * Adds a window: facts, ledger, samples, their stacks and frames, times of threads. What else a
 * profile can have, windows do not have. nameless: what frames are called that have no name so far
 * (and those of the kernel get no address), NULL = all have one. -EINVAL: not the same kind of
 * recording; -EFBIG: together they are too large. Then nothing was added.
 */
int gather_add(struct gather *g, const struct profile *from, const char *nameless);

/*
 * For windows one by one that share what they refer to: the result so far, lent, in which rows of
 * strings, modules, frames and stacks only come behind others (flags of stacks may change); and
 * back to one without any window, but with these.
 */
struct profile *gather_result(struct gather *g);
void gather_clear(struct gather *g);

/* The result, which belongs to the caller; frees g. NULL if nothing was added. */
struct profile *gather_take(struct gather *g);

#endif
