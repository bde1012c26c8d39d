/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does what is to be created fit into the memory that our cgroup may take? A process that takes
 * more than that is killed, without a word: so this is asked before.
 */
#ifndef BPFPROF_COLLECT_MEMORY_FIT_H
#define BPFPROF_COLLECT_MEMORY_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/session.h"

/*
 * Lowers so->max_bytes, unless it was asked for, and the room for unwind tables, where that is what
 * it takes; the former with a warning. 0, or -ENOMEM after a sentence that says what is needed and
 * what there is.
 */
int memory_fit(struct session_opts *so, uint64_t *unwind_bytes);

/* The same for maps of a fixed size. */
int memory_fit_bytes(uint64_t map_bytes);

/* Does our cgroup have so little that one file's names are read at a time? */
bool memory_is_tight(void);

/*
 * While it records: does our cgroup leave less than what a profile of so many bytes needs besides,
 * and the names in it? Says so.
 */
bool memory_runs_out(uint64_t profile_bytes, uint64_t begin_ns);

#endif
