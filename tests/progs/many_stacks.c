/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * many_stacks [SECONDS] [BITS]: walks all 2^BITS ways (default 16) down a tree of two functions,
 * each way burning about 100 us at its end, until SECONDS are over. So nearly every sample has a
 * stack of its own, BITS + 3 frames deep.
 */
#include "ways.h"

static uint64_t end;

/* Slow machines too are to have many ways: burn_until would take longer there. */
static KEEP void way_end(void)
{
	uint64_t until = wall_ns() + 100000;
	unsigned int i, x = 1;

	while (wall_ns() < until)
		for (i = 0; i < 1000; i++)
			__asm__ volatile("" : "+r"(x));
}

int main(int argc, char **argv)
{
	int bits = argc > 2 ? atoi(argv[2]) : 16;
	unsigned int way = 0;

	end = wall_ns() + (argc > 1 ? atof(argv[1]) : 1) * 1e9;
	/* An odd step visits all ways, far ones in turn. */
	for (; wall_ns() < end; way += 0x9e3779b1u)
		go_left(way >> (31 - bits), bits);
	return 0;
}
