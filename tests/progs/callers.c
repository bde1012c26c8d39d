/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * callers: nap(us, word) is called 40 times by quick() with (1000, "quick") and 10 times by slow()
 * with (20000, "slow"). Prints "CALLER CALLS SUM MAX", in us of nap() as it saw them itself.
 */
/* CFLAGS: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls */
#include <stdio.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int sink;
static const char *const words[] = { "quick", "slow" };

struct seen {
	int calls;
	long sum_us, max_us;
};

static long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

NOINLINE void nap(int us, const char *word)
{
	struct timespec t = { 0, us * 1000L };

	sink += word[0];
	nanosleep(&t, NULL);
	sink++;
}

static void add(struct seen *s, long us)
{
	s->calls++;
	s->sum_us += us;
	s->max_us = us > s->max_us ? us : s->max_us;
}

NOINLINE struct seen quick(int nr)
{
	struct seen s = { 0 };

	for (int i = 0; i < nr; i++) {
		long start = now_us();

		nap(1000, words[0]);
		add(&s, now_us() - start);
	}
	return s;
}

NOINLINE struct seen slow(int nr)
{
	struct seen s = { 0 };

	for (int i = 0; i < nr; i++) {
		long start = now_us();

		nap(20000, words[1]);
		add(&s, now_us() - start);
	}
	return s;
}

int main(void)
{
	struct seen a, b;

	/* In memory from now on: probes read no other. */
	sink += *(volatile const char *)words[0] + *(volatile const char *)words[1];
	a = quick(40);
	b = slow(10);
	printf("quick %d %ld %ld\nslow %d %ld %ld\n", a.calls, a.sum_us, a.max_us, b.calls,
	       b.sum_us, b.max_us);
	return 0;
}
