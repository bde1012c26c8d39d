/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spin_abc [SECONDS]: burns 50 / 30 / 20 % of its CPU time in spin_a, spin_b, spin_c, called from
 * main. Whoever is furthest behind its share runs next, for 1 to 3 ms; the length varies, so that
 * no sampling rate falls into step. Ends with what it really did, in percent, and with the CPU time
 * of the process in ms.
 */
#include <stdint.h>
#include <stdio.h>

#include "burn.h"

#define NR 3

static KEEP void spin_a(uint64_t until)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, until);
	__asm__ volatile("" : : "i"('a'));
}

static KEEP void spin_b(uint64_t until)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, until);
	__asm__ volatile("" : : "i"('b'));
}

static KEEP void spin_c(uint64_t until)
{
	burn_until(CLOCK_THREAD_CPUTIME_ID, until);
	__asm__ volatile("" : : "i"('c'));
}

static const struct {
	void (*spin)(uint64_t until);
	unsigned int pct;
} shares[NR] = { { spin_a, 50 }, { spin_b, 30 }, { spin_c, 20 } };

static int furthest_behind(const uint64_t *spent, uint64_t total)
{
	int64_t behind, most = INT64_MIN;
	int i, who = 0;

	for (i = 0; i < NR; i++) {
		behind = (int64_t)(total * shares[i].pct / 100) - (int64_t)spent[i];
		if (behind > most) {
			most = behind;
			who = i;
		}
	}
	return who;
}

int main(int argc, char **argv)
{
	uint64_t end = wall_ns() + arg_ns(argc, argv, 1, 10), spent[NR] = { 0 }, from, total = 0;
	unsigned int seed = 1;
	int i;

	while (wall_ns() < end) {
		seed = seed * 1103515245 + 12345;
		i = furthest_behind(spent, total + 1000000);
		from = cpu_ns();
		shares[i].spin(from + 1000000 + (seed >> 8) % 2000000);
		from = cpu_ns() - from;
		spent[i] += from;
		total += from;
	}
	for (i = 0; total && i < NR; i++)
		printf("%c %.2f\n", 'a' + i, 100.0 * (double)spent[i] / (double)total);
	printf("ms %.1f\n", (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6);
	return 0;
}
