/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How often a thread waits, and whether the stack of a wait is one too many. Those that wait often
 * are thinned first: a thread that sleeps a second at a time keeps every stack beside one that
 * switches 100,000 times a second. Within a thread the choice is one of chance, the same for all of
 * its waits, so what is taken says how the rest was. Pure: the host compiles it too, to be tested.
 *
 * The pace is one word: the number of the window that it is about, how many waits the one before
 * had, as a power of two, and how many this one has had so far.
 */
#ifndef BPFPROF_BPF_PACE_BPF_H
#define BPFPROF_BPF_PACE_BPF_H

#include "thin.h"

#define PACE_WINDOW_SHIFT 27 /* ns: 134 ms */
#define PACE_WINDOW_MASK  0xfffu
#define PACE_COUNT_MASK	  0xffffu

/* The power of two that n, of 16 bits, is at least; 0 of 0. */
static inline __attribute__((always_inline)) __u32 pace_log2(__u32 n)
{
	__u32 log2 = (n > 0xff) << 3;

	n >>= log2;
	log2 |= (n > 0xf) << 2;
	n >>= (n > 0xf) << 2;
	log2 |= (n > 3) << 1;
	n >>= (n > 3) << 1;
	return log2 | (n > 1);
}

/* Another wait begins. */
static inline __attribute__((always_inline)) __u32 pace_next(__u32 pace, __u64 now)
{
	__u32 window = now >> PACE_WINDOW_SHIFT & PACE_WINDOW_MASK, before = pace >> 20, log2 = 0;

	if (before != window) {
		if (((before + 1) & PACE_WINDOW_MASK) == window)
			log2 = pace_log2(pace & PACE_COUNT_MASK);
		pace = window << 20 | log2 << 16;
	}
	return (pace & PACE_COUNT_MASK) == PACE_COUNT_MASK ? pace : pace + 1;
}

/* One wait in 2^n has its stack taken now. level: prof_thin.stacks. */
static inline __attribute__((always_inline)) __u32 pace_halvings(__u32 pace, __u32 level)
{
	__u32 now = pace_log2(pace & PACE_COUNT_MASK), before = pace >> 16 & 15;
	__u32 log2 = now > before ? now : before;

	return level && log2 + level > PROF_THINNEST ? log2 + level - PROF_THINNEST : 0;
}

/* By a number that has nothing to do with what threads do. */
static inline __attribute__((always_inline)) int pace_leaves_out(__u64 now, __u32 halvings)
{
	return (now * 0x9e3779b97f4a7c15ull >> 40 & ((1u << (halvings & 31)) - 1)) != 0;
}

#endif
