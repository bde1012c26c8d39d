/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 */
/*
 * mixes [SECONDS]: burns CPU in lines of a function that is inlined into another one, and in a
 * third that is called seldom.
 */
#include "burn.h"

#define ROUNDS 100000

static inline __attribute__((always_inline)) uint64_t mix(uint64_t x)
{
	for (int i = 0; i < 8; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

KEEP uint64_t seldom(uint64_t x)
{
	uint64_t sum = 0;

	for (uint64_t i = 1; i < 50; i++)
		sum += x / i;
	return sum;
}

KEEP uint64_t often(uint64_t x)
{
	for (int i = 0; i < ROUNDS; i++) {
		x = mix(x);
		if (!(x & 63))
			x += seldom(x);
	}
	return x;
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 1), x = 88172645463325252ull;

	while (wall_ns() < end)
		x = often(x);
	return !x;
}
