/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_faults late [PAGES [MS]]: touches pages in touch() that a thread "pager" hands out only
 * after so many ms (userfaultfd), so each page is one wait of known length.
 * waits_faults file FOLDER [PAGES]: touches pages of a file that the kernel has forgotten.
 * Exit status 77 where there is no userfaultfd, or where the folder is in memory.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include "waits.h"

#define STRIDE 64 /* pages from one that is touched to the next, so that none comes by read-ahead */

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

static struct truth touched = { .name = "touch" };
static size_t page_bytes;
static uint64_t late_ns;

static CHAIN void touch(volatile const char *page)
{
	struct leaves before = leaves_now();
	struct mark from = mark_now();

	(void)*page;
	truth_add_short(&touched, from, before);
}

static CHAIN void answer_late(void)
{
	sleep_ns(late_ns);
}

static CHAIN void *pager_main(void *arg)
{
	char *zeros = calloc(1, page_bytes);
	struct uffdio_copy copy = { .src = (uintptr_t)zeros, .len = page_bytes };
	struct uffd_msg msg;
	int uffd = *(int *)arg;

	name_thread("pager");
	while (read(uffd, &msg, sizeof(msg)) == sizeof(msg)) {
		if (msg.event != UFFD_EVENT_PAGEFAULT)
			continue;
		answer_late();
		copy.dst = msg.arg.pagefault.address & ~(page_bytes - 1);
		if (ioctl(uffd, UFFDIO_COPY, &copy))
			fatal("UFFDIO_COPY");
	}
	return NULL;
}

static void touch_late(size_t nr)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *pages = mmap(NULL, nr * page_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static int uffd;
	pthread_t pager;
	size_t i;

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	range.range.start = (uintptr_t)pages;
	range.range.len = nr * page_bytes;
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api)) {
		perror("userfaultfd");
		exit(CANNOT);
	}
	if (pages == MAP_FAILED || ioctl(uffd, UFFDIO_REGISTER, &range))
		fatal("UFFDIO_REGISTER");
	thread_start(&pager, pager_main, &uffd);
	for (i = 0; i < nr; i++)
		touch(pages + i * page_bytes);
}

/* A file of so many bytes on a disk, which the kernel has written and forgotten. */
static int forgotten_file(const char *folder, size_t bytes)
{
	static char block[1 << 16] = "block";
	char path[PATH_MAX];
	struct statfs fs;
	size_t i;
	int fd;

	if (statfs(folder, &fs))
		fatal(folder);
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		exit(CANNOT);
	snprintf(path, sizeof(path), "%s/waits_faults.XXXXXX", folder);
	fd = mkstemp(path);
	if (fd < 0)
		fatal(path);
	unlink(path);
	for (i = 0; i < bytes; i += sizeof(block))
		if (write(fd, block, sizeof(block)) != sizeof(block))
			fatal("write");
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fatal("fsync");
	return fd;
}

static void touch_file(const char *folder, size_t nr)
{
	size_t i, bytes = nr * STRIDE * page_bytes;
	char *pages = mmap(NULL, bytes, PROT_READ, MAP_SHARED, forgotten_file(folder, bytes), 0);

	if (pages == MAP_FAILED || madvise(pages, bytes, MADV_RANDOM))
		fatal("mmap");
	for (i = 0; i < nr; i++)
		touch(pages + i * STRIDE * page_bytes);
}

int main(int argc, char **argv)
{
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	late_ns = arg_nr(argc, argv, 3, 10) * NS_PER_MS;
	if (arg_is(argc, argv, 1, "file"))
		touch_file(argc > 2 ? argv[2] : ".", arg_nr(argc, argv, 3, 100));
	else
		touch_late(arg_nr(argc, argv, 2, 50));
	blocks_print(&touched);
	truth_print(&touched);
	schedstat_print(touched.name);
	return 0;
}
