/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that end by jumping to where a pointer leads, and one that jumps by a table and stays.
 * Each is called 100 times. The program throws, so nobody may put a return probe on them.
 */
#include <cstdio>
#include <cstdlib>

#include "burn.h"

extern "C" {
struct ops {
	long (*other)(long), (*fn)(long);
};

KEEP long ended(long i)
{
	if (i < 0)
		throw i;
	return i * 3;
}

KEEP long by_member(const struct ops *o, long i)
{
	return o->fn(i + 1);
}

KEEP long by_argument(long i, long (*fn)(long))
{
	return fn(i + 2);
}

/* The pointer is needed after a call, so it lives in a register that is saved on the stack. */
KEEP long by_saved(const struct ops *o, long i)
{
	long (*fn)(long) = o->fn;

	return fn(o->other(i));
}

KEEP long by_table(long i, long j)
{
	switch (i) {
	case 0:
		return j * 7;
	case 1:
		return j ^ 0x55;
	case 2:
		return j << 3;
	case 3:
		return j / 5;
	case 4:
		return ~j;
	case 5:
		return j | 12;
	case 6:
		return j % 9;
	case 7:
		return j * j;
	}
	return 0;
}
}

int main()
{
	struct ops o = { ended, ended };
	long sum = 0;

	try {
		sum += ended(-1);
	} catch (long) {
	}
	for (long i = 0; i < 100; i++)
		sum += by_member(&o, i) + by_argument(i, ended) + by_saved(&o, i) +
		       by_table(i % 9, i);
	printf("sum %ld\n", sum);
	return 0;
}
