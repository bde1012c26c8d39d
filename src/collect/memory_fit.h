/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does what is to be created fit into the memory that our cgroup may take, and into what the user
 * gave (--max-mem)? A process that takes more than the former is killed, without a word: so this is
 * asked before. The latter counts all that is ours: maps, unwind tables, what this process has of
 * its own, and what its copies have.
 */
#ifndef BPFPROF_COLLECT_MEMORY_FIT_H
#define BPFPROF_COLLECT_MEMORY_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/session.h"

/* What is taken of what the user gave. */
struct memory_given {
	uint64_t max_bytes; /* 0 = nothing was said */
	uint64_t map_bytes; /* of maps now, with unwind tables */
};

/*
 * Lowers so->max_bytes, unless it was asked for, and the room for unwind tables, where that is what
 * it takes; the former with a warning, if it is for the cgroup's sake. 0, or -ENOMEM after a
 * sentence that says what is needed and what there is.
 */
int memory_fit(struct session_opts *so, uint64_t *unwind_bytes, const struct memory_given *given);

/* The same for maps of a fixed size. */
int memory_fit_bytes(uint64_t map_bytes);

/* Is there so little that one file's names are read at a time? */
bool memory_is_tight(const struct memory_given *given);

/*
 * While it records: is less left than what a profile of so many bytes needs besides, and the names
 * in it? Says so.
 */
bool memory_runs_out(const struct memory_given *given, uint64_t profile_bytes, uint64_t begin_ns);

/* What is left of it, for a child that reads for us; 0 = nothing was said. */
uint64_t memory_for_reader(const struct memory_given *given);

#endif
