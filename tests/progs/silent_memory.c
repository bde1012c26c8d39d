/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* LDLIBS: -lpthread */
/*
 * Whoever looks at its memory waits, once it got SIGUSR1 and FILE is on a file system that has
 * stopped to answer: one thread reads FILE's page by /proc/self/mem, which keeps the lock of all
 * mappings for readers, and another wants to map something, behind which no reader gets in.
 *
 *	silent_memory FILE [busy]
 *
 * busy: it burns CPU time from then on, in burn().
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void *read_page(void *page)
{
	int fd = open("/proc/self/mem", O_RDONLY);
	char byte;

	if (pread(fd, &byte, 1, (off_t)(uintptr_t)page) != 1)
		perror("pread");
	return NULL;
}

static void *map_some(void *unused)
{
	return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static __attribute__((noinline)) void burn(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
}

int main(int argc, char **argv)
{
	int fd = argc >= 2 ? open(argv[1], O_RDONLY) : -1, nr;
	void *page = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	pthread_t reader, mapper;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (page == MAP_FAILED || write(STDOUT_FILENO, "ready\n", 6) != 6) {
		perror("silent_memory");
		return 1;
	}
	sigwait(&set, &nr);
	pthread_create(&reader, NULL, read_page, page);
	usleep(100000);
	pthread_create(&mapper, NULL, map_some, NULL);
	usleep(100000);
	if (argc == 3)
		burn();
	for (;;)
		pause();
}
