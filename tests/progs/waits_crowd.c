/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_crowd [THREADS [SECONDS]]: so many threads "crowd", or as many as the machine lets it have,
 * each asleep for a second at a time in nap(), until SECONDS after the last has begun. Tells when
 * all are there ("threads N"), and the sum of their naps at the end.
 */
#include <sys/mman.h>

#include "waits.h"

#define STACK_BYTES 16384

static struct truth napped = { .name = "nap" };
static atomic_ullong end; /* 0: not yet known */

static CHAIN void nap(uint64_t ns)
{
	struct mark from = mark_now();

	sleep_ns(ns);
	truth_add(&napped, from);
}

static CHAIN void *crowd_main(void *arg)
{
	uint64_t left = NS_PER_S, now;

	for (;;) {
		now = wall_ns();
		if (end && now >= end)
			return NULL;
		if (end && end - now < left)
			left = end - now;
		nap(left);
		left = NS_PER_S;
	}
}

/* All stacks are one mapping: there are limits to the number of those, too. */
static unsigned long start_crowd(pthread_t *threads, unsigned long nr)
{
	long least = sysconf(_SC_THREAD_STACK_MIN);
	size_t bytes = least > STACK_BYTES ? (size_t)least : STACK_BYTES;
	char *stacks = mmap(NULL, nr * bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attr;
	unsigned long i;

	if (stacks == MAP_FAILED)
		fatal("mmap");
	madvise(stacks, nr * bytes, MADV_NOHUGEPAGE);
	pthread_attr_init(&attr);
	for (i = 0; i < nr; i++)
		if (pthread_attr_setstack(&attr, stacks + i * bytes, bytes) ||
		    pthread_create(&threads[i], &attr, crowd_main, NULL))
			break;
	return i;
}

int main(int argc, char **argv)
{
	unsigned long i, nr = arg_nr(argc, argv, 1, 100000);
	pthread_t *threads = calloc(nr, sizeof(*threads));

	if (!threads)
		fatal("calloc");
	name_thread("crowd");
	nr = start_crowd(threads, nr);
	end = wall_ns() + arg_ns(argc, argv, 2, 10);
	printf("threads %lu\n", nr);
	fflush(stdout);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	truth_print(&napped);
	free(threads);
	return 0;
}
