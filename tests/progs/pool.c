/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -pthread */
/* LDLIBS: -lpthread */
/*
 * pool [THREADS] [SECONDS]: threads worker-0, worker-1, ... that spin, each in its own chain of
 * functions: worker_main -> job_N -> step_N -> leaf_N, where N is the number of the thread
 * modulo 8. Each ends with its name and its CPU time in ms.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "burn.h"

#define NR_CHAINS 8

static uint64_t end;

/* The asm statement behind a call keeps it from becoming a jump, and the chains from being merged.
 */
#define CHAIN(n)                                                                                   \
	static KEEP void leaf_##n(void)                                                            \
	{                                                                                          \
		burn_until(CLOCK_MONOTONIC, end);                                                  \
		__asm__ volatile("" : : "i"(n));                                                   \
	}                                                                                          \
	static KEEP void step_##n(void)                                                            \
	{                                                                                          \
		leaf_##n();                                                                        \
		__asm__ volatile("" : : "i"(n));                                                   \
	}                                                                                          \
	static KEEP void job_##n(void)                                                             \
	{                                                                                          \
		step_##n();                                                                        \
		__asm__ volatile("" : : "i"(n));                                                   \
	}

CHAIN(0)
CHAIN(1)
CHAIN(2)
CHAIN(3)
CHAIN(4)
CHAIN(5)
CHAIN(6)
CHAIN(7)

static void (*const jobs[NR_CHAINS])(void) = {
	job_0, job_1, job_2, job_3, job_4, job_5, job_6, job_7,
};

static KEEP void *worker_main(void *arg)
{
	intptr_t i = (intptr_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "worker-%d", (int)i);
	pthread_setname_np(pthread_self(), name);
	jobs[i % NR_CHAINS]();
	printf("%s %.1f\n", name, (double)cpu_ns() / 1e6);
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 4;
	pthread_t *threads = calloc((size_t)nr, sizeof(*threads));
	intptr_t i;

	end = wall_ns() + arg_ns(argc, argv, 2, 10);
	for (i = 0; threads && i < nr; i++)
		if (pthread_create(&threads[i], NULL, worker_main, (void *)i))
			return 1;
	for (i = 0; threads && i < nr; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
