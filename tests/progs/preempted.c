/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer */
/* LDLIBS: -pthread */
/*
 * preempted SECONDS: four threads call probed(), each at a depth of its own, and yield to each
 * other at random; prints how often they did.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define THREADS	 4

static volatile int over;

NOINLINE uint32_t probed(uint32_t n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 1664525 + 1013904223;
}

NOINLINE uint32_t below(uint32_t n, int depth)
{
	uint32_t found = depth ? below(n, depth - 1) : probed(n);

	__asm__ volatile("" : "+r"(found));
	return found;
}

static void *thread(void *arg)
{
	uint32_t n = (uintptr_t)arg;
	uintptr_t calls = 0;

	while (!over) {
		n = below(n, 3 * (uintptr_t)arg);
		calls++;
		if (n >> 28 == 0)
			sched_yield();
	}
	return (void *)calls;
}

int main(int argc, char **argv)
{
	struct timespec rest = { argc > 1 ? atoi(argv[1]) : 1, 0 };
	pthread_t threads[THREADS];
	uintptr_t sum = 0;
	void *calls;

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(i + 1));
	nanosleep(&rest, NULL);
	over = 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &calls);
		sum += (uintptr_t)calls;
	}
	printf("calls %lu\n", (unsigned long)sum);
	return 0;
}
