/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_asleep [THREADS [SHORT]]: so many threads "asleep" that pause in asleep_for_good(), or as
 * many as the machine lets it have, and SHORT others that sleep for half a millisecond at a time in
 * asleep_often(). Tells when all are there ("threads N"), and goes on until it is killed.
 */
#include <sys/mman.h>

#include "waits.h"

#define STACK_BYTES 16384

static CHAIN void *asleep_for_good(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static CHAIN void *asleep_often(void *arg)
{
	for (;;)
		sleep_ns(NS_PER_MS / 2);
	return arg;
}

/* All stacks are one mapping: there are limits to the number of those, too. */
static unsigned long start_all(unsigned long nr, void *(*function)(void *))
{
	long least = sysconf(_SC_THREAD_STACK_MIN);
	size_t bytes = least > STACK_BYTES ? (size_t)least : STACK_BYTES;
	char *stacks = mmap(NULL, (nr + 1) * bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;
	unsigned long i;

	if (stacks == MAP_FAILED)
		fatal("mmap");
	madvise(stacks, (nr + 1) * bytes, MADV_NOHUGEPAGE);
	pthread_attr_init(&attr);
	for (i = 0; i < nr; i++)
		if (pthread_attr_setstack(&attr, stacks + i * bytes, bytes) ||
		    pthread_create(&thread, &attr, function, NULL))
			break;
	return i;
}

int main(int argc, char **argv)
{
	unsigned long nr = arg_nr(argc, argv, 1, 20000), often = 0;

	name_thread("asleep");
	nr = start_all(nr, asleep_for_good);
	if (argc > 2)
		often = start_all(arg_nr(argc, argv, 2, 1), asleep_often);
	printf("threads %lu\n", nr + often);
	fflush(stdout);
	asleep_for_good(NULL);
	return 0;
}
