/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * five_shares [SLOWER]: runs for ever; 20, 30, 15, 5 and 30 percent of it in five functions, render
 * SLOWER times as much.
 */
#include <stdlib.h>

static volatile unsigned long sink;

#define WORKER(name)                                                                               \
	__attribute__((noinline)) void name(long n);                                               \
	__attribute__((noinline)) void name(long n)                                                \
	{                                                                                          \
		unsigned long x = 1;                                                               \
                                                                                                   \
		for (long i = 0; i < n; i++)                                                       \
			x = x * 6364136223846793005ul + (unsigned long)i;                          \
		sink = x;                                                                          \
	}

WORKER(parse)
WORKER(render)
WORKER(hashing)
WORKER(copying)
WORKER(sorting)

int main(int argc, char **argv)
{
	double slower = argc > 1 ? atof(argv[1]) : 1;

	for (;;) {
		parse(20000);
		render((long)(30000 * slower));
		hashing(15000);
		copying(5000);
		sorting(30000);
	}
}
