/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * klocks_known wait FOLDER N: N times a thread in waiting() waits 10 ms for the lock of a file,
 * which the kernel holds for another thread: that one writes to the file from memory that is only
 * there when this program says so (userfaultfd). "waiting US N" is what it measured itself.
 * klocks_known mmap MS, klocks_known host MS: two threads at a time need the lock of their
 * memory, and the one of the kernel that all names of hosts have in common.
 * Exits with 77 where the kernel has no userfaultfd.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "waits.h"

#define PAGE 4096
#define REST (10 * NS_PER_MS)

static int file, faults;
static char *late, *there;
static sem_t hold, wait_too;
static atomic_bool waits;
static atomic_ullong waited_ns;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void *holder(void *arg)
{
	for (unsigned long i = 0; i < (unsigned long)arg; i++) {
		sem_wait(&hold);
		if (pwrite(file, late, PAGE, 0) != PAGE)
			die("pwrite");
	}
	return NULL;
}

static CHAIN void waiting(void)
{
	uint64_t start = wall_ns();

	waits = true;
	if (pwrite(file, there, PAGE, 0) != PAGE)
		die("pwrite");
	waited_ns += wall_ns() - start;
}

static void *waiter(void *arg)
{
	for (unsigned long i = 0; i < (unsigned long)arg; i++) {
		sem_wait(&wait_too);
		waiting();
		waits = false;
	}
	return NULL;
}

/* A page of memory whose first access waits until it is copied there. */
static void open_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .range.len = PAGE, .mode = UFFDIO_REGISTER_MODE_MISSING };

	late = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	there = calloc(1, PAGE);
	memset(there, 7, PAGE);
	faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	reg.range.start = (uintptr_t)late;
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &reg)) {
		perror("userfaultfd");
		exit(CANNOT);
	}
}

static void one_round(void)
{
	struct uffdio_copy copy = { .dst = (uintptr_t)late, .src = (uintptr_t)there, .len = PAGE };
	struct uffd_msg msg;

	if (madvise(late, PAGE, MADV_DONTNEED))
		die("madvise");
	sem_post(&hold);
	if (read(faults, &msg, sizeof(msg)) != sizeof(msg)) /* it holds the lock now */
		die("read");
	sem_post(&wait_too);
	while (!waits)
		sleep_ns(NS_PER_MS / 10);
	sleep_ns(REST);
	if (ioctl(faults, UFFDIO_COPY, &copy))
		die("copy");
	while (waits)
		sleep_ns(NS_PER_MS / 10);
}

static void wait_for_file(const char *folder, unsigned long nr)
{
	pthread_t threads[2];
	char path[4096];

	snprintf(path, sizeof(path), "%s/klocks_known.XXXXXX", folder);
	file = mkstemp(path);
	if (file < 0)
		die(path);
	unlink(path);
	open_faults();
	sem_init(&hold, 0, 0);
	sem_init(&wait_too, 0, 0);
	pthread_create(&threads[0], NULL, holder, (void *)nr);
	pthread_create(&threads[1], NULL, waiter, (void *)nr);
	for (unsigned long i = 0; i < nr; i++)
		one_round();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("waiting %llu %lu\n", (unsigned long long)(waited_ns / NS_PER_US), nr);
}

static CHAIN void mapping(void)
{
	char *p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p, PAGE);
}

static CHAIN void naming(void)
{
	if (sethostname("klocks", 6))
		die("sethostname");
}

struct work {
	void (*step)(void);
	uint64_t until;
};

static void *works(void *arg)
{
	const struct work *w = arg;

	while (wall_ns() < w->until)
		for (int i = 0; i < 100; i++)
			w->step();
	return NULL;
}

static void contend(void (*step)(void), unsigned long ms)
{
	struct work w = { step, wall_ns() + ms * NS_PER_MS };
	pthread_t other;

	pthread_create(&other, NULL, works, &w);
	works(&w);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	if (arg_is(argc, argv, 1, "wait")) {
		wait_for_file(argc > 2 ? argv[2] : "/tmp", arg_nr(argc, argv, 3, 20));
	} else if (arg_is(argc, argv, 1, "mmap")) {
		contend(mapping, arg_nr(argc, argv, 2, 500));
	} else {
		if (unshare(CLONE_NEWUTS))
			die("unshare");
		contend(naming, arg_nr(argc, argv, 2, 500));
	}
	return 0;
}
