/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * beats [SECONDS [PERIOD_MS]]: a loop of one length, by its own CPU clock: 50, 30 and 20 percent of
 * it in three functions. Whoever samples in step with it gets other shares.
 */
#include "burn.h"

/* Looks at the clock every microsecond or two, since a turn may be as short as a millisecond. */
static inline __attribute__((always_inline)) void beat_until(uint64_t until)
{
	unsigned int i, x = 1;

	while (cpu_ns() < until)
		for (i = 0; i < 2000; i++)
			__asm__ volatile("" : "+r"(x));
}

KEEP static void beat_a(uint64_t until)
{
	beat_until(until);
}

KEEP static void beat_b(uint64_t until)
{
	beat_until(until);
}

KEEP static void beat_c(uint64_t until)
{
	beat_until(until);
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 10);
	uint64_t period = arg_ns(argc, argv, 2, 10) / 1000, at = cpu_ns();

	for (; wall_ns() < end; at += period) {
		beat_a(at + period / 2);
		beat_b(at + period * 8 / 10);
		beat_c(at + period);
	}
	return 0;
}
