/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fault_kinds FILE: touches pages of its heap, its stack, anonymous memory and of FILE, which it
 * makes, each in a function of its own. Prints how many minor and major faults each one had, as the
 * kernel counts them.
 */
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "burn.h"

#define PAGES 400

static size_t page_bytes;

static KEEP void touch(volatile char *at, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		at[i * page_bytes] = 1;
}

static KEEP void in_heap(const char *path)
{
	char *at = sbrk(PAGES * page_bytes);

	if (at == (void *)-1)
		exit(1);
	touch(at, PAGES);
}

static KEEP void in_stack(const char *path)
{
	touch(alloca(PAGES * page_bytes), PAGES);
}

static KEEP void in_anonymous(const char *path)
{
	char *at = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* EINVAL: the kernel has none (PREEMPT_RT). */
	if (at == MAP_FAILED ||
	    (madvise(at, PAGES * page_bytes, MADV_NOHUGEPAGE) && errno != EINVAL))
		exit(1);
	touch(at, PAGES);
}

static void make(const char *path)
{
	static char page[65536];
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	memset(page, 'x', sizeof(page));
	for (size_t i = 0; i < PAGES * page_bytes; i += sizeof(page))
		if (write(fd, page, sizeof(page)) != sizeof(page))
			exit(1);
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		exit(1);
	close(fd);
}

/* Without read-ahead: where the file is on a disk, each page has to come from there. */
static KEEP void in_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	volatile char *at = mmap(NULL, PAGES * page_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	char sum = 0;

	if (at == MAP_FAILED || madvise((void *)at, PAGES * page_bytes, MADV_RANDOM))
		exit(1);
	for (size_t i = 0; i < PAGES; i++)
		sum += at[i * page_bytes];
	if (sum == 1)
		exit(1);
}

static KEEP void measure(const char *name, void (*fn)(const char *path), const char *path)
{
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	fn(path);
	getrusage(RUSAGE_SELF, &after);
	printf("%s %ld %ld\n", name, after.ru_minflt - before.ru_minflt,
	       after.ru_majflt - before.ru_majflt);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	make(argv[1]);
	usleep(300000); /* until the profiler knows our mappings: a frame of 1.6 MB needs them */
	measure("heap in_heap", in_heap, argv[1]);
	measure("stack in_stack", in_stack, argv[1]);
	measure("anonymous in_anonymous", in_anonymous, argv[1]);
	measure("file in_file", in_file, argv[1]);
	return 0;
}
