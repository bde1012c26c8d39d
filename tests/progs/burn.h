/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the test programs share: clocks, and a loop that burns CPU inside of its caller. The clock
 * is read about every 100 us, so that nearly all samples fall into the caller itself.
 */
#ifndef BPFPROF_TESTS_BURN_H
#define BPFPROF_TESTS_BURN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEEP	 __attribute__((noinline))
#define NS_PER_S 1000000000ull

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static inline uint64_t wall_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * Runs until clock shows until. A macro, so that it is the function that uses it: an inlined call
 * would be a frame of its own.
 */
#define burn_until(clock, until)                                                                   \
	do {                                                                                       \
		uint64_t burn_end = (until);                                                       \
		unsigned int burn_x = 1;                                                           \
                                                                                                   \
		while (clock_ns(clock) < burn_end)                                                 \
			for (unsigned int burn_i = 0; burn_i < 100000; burn_i++)                   \
				__asm__ volatile("" : "+r"(burn_x));                               \
	} while (0)

/* Argument i as seconds, in ns; fallback seconds when it is not there. */
static inline uint64_t arg_ns(int argc, char **argv, int i, double fallback)
{
	return (uint64_t)((argc > i ? atof(argv[i]) : fallback) * (double)NS_PER_S);
}

#endif
