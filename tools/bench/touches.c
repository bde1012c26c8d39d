/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * touches SECONDS: does nothing but touch memory for the first time, 1,024 pages in a go, and
 * prints of each go when it ended (CLOCK_REALTIME, ns) and how much CPU time it took (ns).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGES 1024
#define MOST  200000

struct go {
	uint64_t ended, took;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* False: there is no memory. */
static int touch(size_t page)
{
	char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		return 0;
	madvise(at, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		*(volatile char *)(at + i * page) = 1;
	munmap(at, PAGES * page);
	return 1;
}

int main(int argc, char **argv)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + (argc > 1 ? atoll(argv[1]) : 1) * 1000000000ull;
	struct go *goes = calloc(MOST, sizeof(*goes));
	size_t page = sysconf(_SC_PAGESIZE), nr = 0;
	uint64_t before;

	while (goes && nr < MOST && now_ns(CLOCK_MONOTONIC) < until) {
		before = now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (!touch(page))
			return 1;
		goes[nr].took = now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
		goes[nr++].ended = now_ns(CLOCK_REALTIME);
	}
	for (size_t i = 0; i < nr; i++)
		printf("%lu %lu\n", goes[i].ended, goes[i].took);
	free(goes);
	return 0;
}
