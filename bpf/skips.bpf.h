/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which switches are not looked at, where leaving out stacks saves too little (thin.h). Of a thread
 * that switches 100,000 times a second some hundred a second are: enough for the shares of its
 * stacks. How often and for how long it waited between two of them the kernel has counted, so sums
 * stay exact (unseen.bpf.h).
 *
 * It is decided as a thread leaves its CPU, by chance; whoever is looked at then is looked at as it
 * comes back. That has to be known without the state of the thread, whose look-up is much of the
 * cost: a table by its number says it. Threads that share a slot at worst lose the end of a wait.
 *
 * Pure: the host compiles it too, to be tested.
 */
#ifndef BPFPROF_BPF_SKIPS_BPF_H
#define BPFPROF_BPF_SKIPS_BPF_H

#include "pace.bpf.h"

/* A thread that was looked at some time ago, or has no level, is looked at. */
struct prof_skip {
	__u32 word; /* SKIP_*; from bit 20 on, the number of the window that it was written in */
	__u32 left; /* when it left its CPU and was not looked at, in units of SKIP_UNIT_SHIFT */
};

#define SKIP_OPEN	 1u	    /* it was looked at when it left its CPU */
#define SKIP_PREEMPTED	 2u	    /* it was not, and could have gone on */
#define SKIP_LEVEL_SHIFT 2	    /* one in 2^level is looked at; 0 = all are */
#define SKIP_STATE_SHIFT 6	    /* what it was not looked at in: 12 bits of its state */
#define SKIP_FORCED	 (1u << 18) /* it was looked at for another reason than chance */
#define SKIP_EVENTS	 (1u << 19) /* its thread waits for events, too */
#define SKIP_KEEPS	 0xfff8003cu
#define SKIP_HIGHEST	 14u
#define SKIP_UNIT_SHIFT	 10
#define SKIP_LONG	 (PROF_SKIPPED_NS >> SKIP_UNIT_SHIFT) /* is looked at when it ends */

static inline __attribute__((always_inline)) __u32 skip_level(__u32 word)
{
	return word >> SKIP_LEVEL_SHIFT & 15;
}

/* Since its thread left its CPU, in units. */
static inline __attribute__((always_inline)) __u32 skip_age(const struct prof_skip *skip, __u64 now)
{
	return (__u32)(now >> SKIP_UNIT_SHIFT) - skip->left;
}

static inline __attribute__((always_inline)) __u32 skip_word(__u32 level, __u64 now)
{
	__u32 window = now >> PACE_WINDOW_SHIFT & PACE_WINDOW_MASK;

	return level ? window << 20 | level << SKIP_LEVEL_SHIFT | SKIP_OPEN : 0;
}

static inline __attribute__((always_inline)) int skip_leaves_out(__u32 word, __u64 now)
{
	__u32 age = ((now >> PACE_WINDOW_SHIFT) - (word >> 20)) & PACE_WINDOW_MASK;

	return age <= 1 && pace_leaves_out(now, skip_level(word));
}

/*
 * The level after another wait was looked at, by how many were in the window before. pace: of such
 * waits, with that one and without. skips: prof_thin.skips.
 */
static inline __attribute__((always_inline)) __u32 skip_next(__u32 level, __u32 skips, __u32 pace,
							     __u32 without)
{
	__u32 most = PROF_SKIPS_TARGET - skips, had = pace >> 16 & 15;

	if (!skips)
		return 0;
	if (pace >> 20 == without >> 20) /* the window goes on */
		return level;
	if (had >= most)
		level += had - most + 1;
	else if (had + 2 < most)
		level = level > most - 2 - had ? level - (most - 2 - had) : 0;
	return level < SKIP_HIGHEST ? level : SKIP_HIGHEST;
}

#endif
