/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Time, in nanoseconds. */
#ifndef BPFPROF_BASE_CLOCK_H
#define BPFPROF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What a clock shows, as clock_gettime(2) numbers them. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Now, on the clock that samples, waits and side-band records carry. */
static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
