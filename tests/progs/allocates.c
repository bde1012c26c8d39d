/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * allocates ROUNDS [NAP]: allocates in functions of known names, by each way that the C library
 * has, and frees all but what leaks() allocates: 64 bytes in each tenth round. Prints the bytes and
 * the number of allocations of each. allocates 0 SECONDS [TURNS]: malloc() and free() until then,
 * with so many turns of a loop in between; prints how many a second in the second half of the time,
 * then how many in all, and the CPU time of one in the second half without the turns, in
 * nanoseconds: the median of thousands.
 */
#include <malloc.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

#define KINDS 8

static struct {
	const char *name;
	size_t bytes, objects;
} sums[KINDS];

static KEEP void note(int kind, const char *name, size_t bytes)
{
	sums[kind].name = name;
	sums[kind].bytes += bytes;
	sums[kind].objects++;
}

/* Nobody may find out that what is allocated is not used. */
static KEEP void drop(volatile char *at)
{
	if (!at)
		exit(1);
	at[0] = 1;
	free((void *)at);
}

static KEEP void small(size_t i)
{
	note(0, "small", 24 + i % 200);
	drop(malloc(24 + i % 200));
}

static KEEP void mixed(size_t i)
{
	size_t bytes = i % 50 ? 100 : 50000;

	note(1, "mixed", bytes);
	drop(malloc(bytes));
}

static KEEP void zeroed(size_t i)
{
	note(2, "zeroed", 10 * 33);
	drop(calloc(10, 33));
}

/* A compiler that sees NULL makes it malloc(). */
static void *volatile nothing;

static KEEP void grown(size_t i)
{
	volatile char *at = realloc(nothing, 40);

	note(3, "grown", 40);
	note(3, "grown", 400);
	drop(realloc((void *)at, 400));
}

static KEEP void aligned(size_t i)
{
	void *at = NULL;

	note(4, "aligned", 256);
	note(4, "aligned", 128);
	if (posix_memalign(&at, 64, 256))
		exit(1);
	drop(at);
	drop(memalign(32, 128));
}

static KEEP void large(size_t i)
{
	if (i % 100)
		return;
	note(5, "large", 300000);
	drop(malloc(300000));
}

static KEEP void mapped(size_t i)
{
	void *at;

	if (i % 100)
		return;
	note(6, "mapped", 65536);
	at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED || munmap(at, 65536))
		exit(1);
}

static char *volatile leaked;

static KEEP void leaks(size_t i)
{
	if (i % 10)
		return;
	note(7, "leaks", 64);
	leaked = malloc(64);
}

static KEEP void one_round(size_t i)
{
	small(i);
	mixed(i);
	zeroed(i);
	grown(i);
	aligned(i);
	large(i);
	mapped(i);
	leaks(i);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static KEEP void turn(unsigned long turns)
{
	for (unsigned long k = 0; k < turns; k++)
		__asm__ volatile("" : "+r"(k));
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The turns of a thousand pairs, and the same turns alone: what they differ by is the pairs'. */
static inline __attribute__((always_inline)) int64_t thousand(unsigned long turns)
{
	uint64_t start = cpu_ns(), middle;

	for (size_t i = 0; i < 1000; i++) {
		drop(malloc(100));
		turn(turns);
	}
	middle = cpu_ns();
	for (size_t i = 0; i < 1000; i++)
		turn(turns);
	return (int64_t)(middle - start) - (int64_t)(cpu_ns() - middle);
}

static KEEP void forever(double seconds, unsigned long turns)
{
	static int64_t pairs[1 << 16];
	double start = now(), middle = start + seconds / 2, end = start + seconds;
	size_t nr = 0, before = 0;
	bool late = false;

	for (; now() < end; nr++) {
		if (!late && now() > middle) {
			late = true;
			start = now();
			before = nr;
			nr = 0;
		}
		pairs[nr % (1 << 16)] = thousand(turns);
	}
	printf("%.0f\n", 1000 * nr / (now() - start));
	before += nr;
	nr = nr < 1 << 16 ? nr : 1 << 16;
	qsort(pairs, nr, sizeof(*pairs), compare);
	printf("all %zu each %.0f\n", 1000 * before, pairs[nr / 2] / 1000.0);
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	unsigned int nap = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (!nr) {
		forever(nap, argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
		return 0;
	}
	mallopt(M_MMAP_THRESHOLD, 200000);
	for (size_t i = 0; i < nr; i++)
		one_round(i);
	for (size_t i = 0; i < KINDS; i++)
		printf("%s %zu %zu\n", sums[i].name, sums[i].bytes, sums[i].objects);
	fflush(stdout);
	sleep(nap);
	return 0;
}
