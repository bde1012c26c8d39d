/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer */
/* LDLIBS: -lpthread */
/* nofp_threads [SECONDS]: five threads burn, each in thread_main, worker, thread_leaf. */
#include <pthread.h>

#include "nofp.h"

#define NR 5

static CHAIN void thread_leaf(uint64_t until)
{
	burn_until(CLOCK_MONOTONIC, until);
}

static CHAIN void worker(uint64_t until)
{
	TAKE_STACK(1000);
	thread_leaf(until);
}

static CHAIN void *thread_main(void *arg)
{
	worker(*(uint64_t *)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t until = wall_ns() + arg_ns(argc, argv, 1, 5);
	pthread_t threads[NR];
	int i;

	for (i = 0; i < NR; i++)
		if (pthread_create(&threads[i], NULL, thread_main, &until))
			return 1;
	for (i = 0; i < NR; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
