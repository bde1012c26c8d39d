/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of Python among native ones: each run of them, which one call of the evaluator executes,
 * takes the place of that call's frame.
 *
 *	native (leaf first)	words (newest first)	the stack that is kept
 *	clock_nanosleep					clock_nanosleep
 *	time_sleep					time_sleep
 *	evaluator		nap, work | last	nap, work
 *	method_vectorcall				method_vectorcall
 *	evaluator		<module> | last		<module>
 *	main			whole			main
 *
 * A call that begins or ends has no frame of Python, or none any more: it frees what the function
 * had, for example. What it calls then follows the frame of its caller.
 */
#ifndef BPFPROF_COLLECT_PYTHON_MERGE_H
#define BPFPROF_COLLECT_PYTHON_MERGE_H

#include <stdbool.h>

#include "collect/arena.h"
#include "python/find.h"

/* Where the native frames of a stack end. */
void python_split(struct arena_stack *s);

/* How runs of frames are matched with the calls of the evaluator in a stack. */
struct python_merge {
	const struct python_found *found;
	const uint64_t *words; /* those that are left */
	size_t nr;
	size_t skip; /* innermost calls that have no frame yet, or none any more … */
	bool is_one; /* … which is to be expected of one */
};

/*
 * found may be NULL. addresses: of the native frames, leaf first; complete: they reach the root of
 * the thread.
 */
void python_merge_begin(struct python_merge *m, const struct python_found *found,
			const struct arena_stack *s, const uint64_t *addresses, bool complete);
/*
 * The words that take the place of the native frame at an address, *nr of them, 0 = the frame goes
 * without; false: it stays. In order, for each frame of the stack.
 */
bool python_merge_next(struct python_merge *m, uint64_t address, const uint64_t **words,
		       size_t *nr);

#endif
