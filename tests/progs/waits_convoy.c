/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_convoy [THREADS [ROUNDS]]: threads "convoy" queue for one mutex in wait_for_lock(), have it
 * for 2 ms in hold(), where they sleep, and do without it for a moment in think(). "queued FUNCTION
 * US" is how much of the first two they had waited for a CPU, as the kernel counts.
 */
#include "waits.h"

static struct truth waited = { .name = "wait_for_lock" };
static struct truth held = { .name = "hold" }, thought = { .name = "think" };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_ullong waited_queued, held_queued;
static unsigned long rounds;

static CHAIN void wait_for_lock(void)
{
	uint64_t queued = cpu_wait_ns();
	struct mark from = mark_now();

	pthread_mutex_lock(&lock);
	truth_add(&waited, from);
	waited_queued += cpu_wait_ns() - queued;
}

static CHAIN void hold(void)
{
	uint64_t queued = cpu_wait_ns();
	struct mark from = mark_now();

	sleep_ns(2 * NS_PER_MS);
	truth_add(&held, from);
	held_queued += cpu_wait_ns() - queued;
}

/* Else whoever gives the mutex back would have it again before those who wait wake up. */
static CHAIN void think(void)
{
	struct mark from = mark_now();

	sleep_ns(500 * NS_PER_US);
	truth_add(&thought, from);
}

static CHAIN void *convoy_main(void *arg)
{
	unsigned long i;

	name_thread("convoy");
	for (i = 0; i < rounds; i++) {
		wait_for_lock();
		hold();
		pthread_mutex_unlock(&lock);
		think();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long i, nr = arg_nr(argc, argv, 1, 4);
	pthread_t *threads = calloc(nr, sizeof(*threads));

	rounds = arg_nr(argc, argv, 2, 100);
	for (i = 0; threads && i < nr; i++)
		thread_start(&threads[i], convoy_main, NULL);
	for (i = 0; threads && i < nr; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	truth_print(&waited);
	truth_print(&held);
	truth_print(&thought);
	printf("queued %s %llu\nqueued %s %llu\n", waited.name, waited_queued / NS_PER_US,
	       held.name, held_queued / NS_PER_US);
	return 0;
}
