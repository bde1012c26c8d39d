/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process may do to whoever profiles it. Prints "ready" when it is done with, and goes on:
 *
 *	attacks pieces N FILE: maps N single pages of FILE, each at another offset, and burns;
 *	attacks files: maps one file after the other, each new, 33,000 a second;
 *	attacks library FILE OFFSET: maps a library and calls what lies there;
 *	attacks leaderless: ends its first thread, and burns in another.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define PAGE 4096ull

static void fatal(const char *what)
{
	perror(what);
	exit(1);
}

static void ready(void)
{
	puts("ready");
	fflush(stdout);
}

static KEEP void burn_here(void)
{
	for (;;)
		burn_until(CLOCK_MONOTONIC, wall_ns() + NS_PER_S);
}

static void pieces(size_t nr, const char *path)
{
	int fd = open(path, O_RDONLY);
	char *base = mmap(NULL, nr * 2 * PAGE, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (fd < 0 || base == MAP_FAILED)
		fatal(path);
	for (size_t i = 0; i < nr; i++)
		if (mmap(base + i * 2 * PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
			 fd, i * 2 * PAGE) == MAP_FAILED)
			fatal("mmap");
}

static void files(void)
{
	char *at = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), name[200];

	uint64_t begin = wall_ns();

	for (long i = 0;; i++) {
		int fd;

		while (i / 33 * 1000000 > (long)(wall_ns() - begin))
			usleep(500);
		snprintf(name, sizeof(name), "%0180ld", i);
		fd = memfd_create(name, 0);
		if (fd < 0 || ftruncate(fd, PAGE) ||
		    mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
			    MAP_FAILED)
			fatal("memfd");
		close(fd);
		if (i == 1000)
			ready();
	}
}

static void *burner(void *arg)
{
	burn_here();
	return NULL;
}

static void leaderless(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, burner, NULL))
		fatal("pthread_create");
	ready();
	pthread_exit(NULL);
}

static void library(const char *path, uint64_t offset)
{
	int fd = open(path, O_RDONLY);
	char *at = mmap(NULL, 16 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (fd < 0 || at == MAP_FAILED)
		fatal(path);
	ready();
	((void (*)(void))(at + offset))();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "pieces") && argc > 3)
		pieces(strtoul(argv[2], NULL, 10), argv[3]);
	else if (!strcmp(how, "library") && argc > 3)
		library(argv[2], strtoul(argv[3], NULL, 0));
	else if (!strcmp(how, "files"))
		files();
	else if (!strcmp(how, "leaderless"))
		leaderless();
	ready();
	burn_here();
}
