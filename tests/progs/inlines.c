/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 */
/*
 * inlines [SECONDS]: burns CPU in a call that the compiler puts into another one, that into a
 * function: main -> outer -> (middle -> inner), two thirds of the time; the rest in outer itself.
 */
#include "burn.h"

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void inner(uint64_t ns)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + ns);
}

ALWAYS void middle(uint64_t ns)
{
	inner(ns);
	__asm__ volatile("");
}

KEEP void outer(uint64_t ns)
{
	middle(2 * ns);
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + ns);
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 1);

	while (wall_ns() < end)
		outer(2000000);
	return 0;
}
