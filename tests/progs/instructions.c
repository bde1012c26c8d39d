/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * instructions [MILLIONS [EXTRA_PCT]]: runs so many million instructions in a loop of ten, by
 * default 100, and EXTRA_PCT percent more. What it takes to start and to end comes on top: some ten
 * thousand in user mode.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ten instructions a round, the branch among them. */
static __attribute__((noinline)) void rounds(uint64_t nr)
{
#if defined(__x86_64__)
	__asm__ volatile("1:\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
			 "dec %0\n\tjnz 1b"
			 : "+r"(nr)
			 :
			 : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1:\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
			 "subs %0, %0, #1\n\tb.ne 1b"
			 : "+r"(nr)
			 :
			 : "cc");
#endif
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	uint64_t extra_pct = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	rounds(millions * 1000 * (100 + extra_pct));
	return 0;
}
