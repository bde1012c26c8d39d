/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts of threads that are gone, given back to the kernel's table while the recording goes on.
 * Where programs start all the time they fill it within seconds, and another recording, which is
 * loaded anew, costs more than all else. After a look:
 *
 *	in use ── its thread is gone ──> given up ── three seconds later: gone, not grown ──> free
 *	   ^                                │
 *	   └──── grown, or its number ──────┘
 *	         belongs to a thread again
 *
 * Programs at the scheduler keep numbers of counts of threads that are there, and of no others. Two
 * kinds of them have no such number any more while they still add to their counts: one that ends,
 * on its way to its last switch, for which those seconds are; and one that calls exec without being
 * the first of its process, until it has its new name: it is there under its old number for looks.
 *
 * A count that is given up has a hash that nobody looks for, so another thread with the same number
 * claims another one. Samples and weight stay as they are: what grows is what matters, and the next
 * owner adds to them. Two counts of one key may come of it; looks add them up.
 */
#ifndef BPFPROF_COLLECT_RECYCLE_H
#define BPFPROF_COLLECT_RECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "collect/window.h"

struct recycle {
	struct prof_count *counts; /* the kernel's, those that the window looks at; borrowed */
	__u64 *used;		   /* how many of them are in use: the kernel's as well */
	bool (*is_gone)(uint32_t tid);
	struct recycle_slot {
		uint64_t hash;		  /* that it had, */
		uint64_t samples, weight; /* and what was added by then */
		uint64_t since_ns;	  /* it is given up */
		uint32_t slot;
	} * given_up; /* in the order of looks */
	size_t nr, cap;
	uint64_t nr_freed; /* in all */
};

/* is_gone: NULL = asks the kernel. Where its numbers of threads are not ours nothing is freed. */
void recycle_init(struct recycle *r, struct prof_count *counts, __u64 *used,
		  bool (*is_gone)(uint32_t tid));
void recycle_release(struct recycle *r);

/* After a look: gives up counts of threads that are gone. */
void recycle_look(struct recycle *r, const struct window *w, uint64_t now_ns);
/* Now and then: frees those that were given up some seconds ago. */
void recycle_turn(struct recycle *r, struct window *w, uint64_t now_ns);

#endif
