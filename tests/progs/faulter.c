/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faulter [PAGES [ROUNDS]]: touches so many pages for the first time in touch_pages(), gives them
 * back, and so on: exactly PAGES * ROUNDS page faults there. As many in another function,
 * touch_twice(), which finds every page a second time. Prints both numbers.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

static size_t page_bytes;

/* Small pages: a huge one would be a single fault. */
static volatile char *pages(size_t nr)
{
	void *at = mmap(NULL, nr * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	/* EINVAL: the kernel has none (PREEMPT_RT). */
	if (at == MAP_FAILED ||
	    (madvise(at, nr * page_bytes, MADV_NOHUGEPAGE) && errno != EINVAL)) {
		perror("faulter");
		exit(1);
	}
	return at;
}

static KEEP void touch_pages(volatile char *at, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		at[i * page_bytes] = 1;
}

static KEEP void touch_twice(volatile char *at, size_t nr)
{
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < nr; i++)
			at[i * page_bytes] = 1;
}

static KEEP void rounds(volatile char *at, size_t nr, size_t times)
{
	for (size_t i = 0; i < times; i++) {
		touch_pages(at, nr);
		madvise((void *)at, nr * page_bytes, MADV_DONTNEED);
	}
}

int main(int argc, char **argv)
{
	size_t nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	size_t times = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	rounds(pages(nr), nr, times);
	touch_twice(pages(nr), nr);
	printf("touch_pages %zu\ntouch_twice %zu\n", nr * times, nr);
	return 0;
}
