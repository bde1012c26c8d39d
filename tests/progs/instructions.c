/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -pthread */
/* LDLIBS: -lpthread */
/*
 * instructions [MILLIONS [EXTRA_PCT [THREADS]]]: runs so many million instructions in a loop of
 * ten, by default 100, and EXTRA_PCT percent more; so many THREADS do the same besides. What it
 * takes to start and to end comes on top: some hundred thousand in user mode.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ten instructions a round, the branch among them. */
static __attribute__((noinline)) void rounds(uint64_t nr)
{
#if defined(__x86_64__)
	__asm__ volatile("1:\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
			 "dec %0\n\tjnz 1b"
			 : "+r"(nr)
			 :
			 : "cc");
#elif defined(__aarch64__)
	__asm__ volatile("1:\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
			 "subs %0, %0, #1\n\tb.ne 1b"
			 : "+r"(nr)
			 :
			 : "cc");
#endif
}

static uint64_t nr_rounds;

static void *thread_main(void *arg)
{
	(void)arg;
	rounds(nr_rounds);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t millions = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
	uint64_t extra_pct = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	int nr = argc > 3 ? atoi(argv[3]) : 0;
	pthread_t *threads = calloc((size_t)nr + 1, sizeof(*threads));

	nr_rounds = millions * 1000 * (100 + extra_pct);
	for (int i = 0; threads && i < nr; i++)
		if (pthread_create(&threads[i], NULL, thread_main, NULL))
			return 1;
	thread_main(NULL);
	for (int i = 0; threads && i < nr; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
