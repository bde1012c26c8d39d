/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two clocks that cannot be read at once. */
#include "collect/suspend.h"

#include "base/clock.h"

#define LEAST_NS 10000000ull /* is long enough to be told */

uint64_t suspend_read_ns(void)
{
	uint64_t awake = clock_ns(CLOCK_MONOTONIC);

	return clock_ns(CLOCK_BOOTTIME) - awake;
}

uint64_t suspend_between_ns(uint64_t first_ns, uint64_t second_ns)
{
	return second_ns >= first_ns + LEAST_NS ? second_ns - first_ns : 0;
}
