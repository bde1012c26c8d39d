/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_hogs [SECONDS]: threads "hog_a" and "hog_b" burn in functions of the same names on one and
 * the same CPU, each about half of the time. Ends with what each lived and ran: "wall hog_a US",
 * "cpu hog_a US", "schedstat hog_a US US"; their truth is that they did not run.
 */
#include "waits.h"

static struct truth a = { .name = "hog_a" }, b = { .name = "hog_b" };
static pthread_barrier_t both;
static uint64_t length;

static void report(struct truth *t, struct mark from)
{
	uint64_t wall = wall_ns() - from.wall, cpu = cpu_ns() - from.cpu;

	pthread_barrier_wait(&both);
	truth_print(t);
	printf("wall %s %llu\ncpu %s %llu\n", t->name, (unsigned long long)wall / NS_PER_US,
	       t->name, (unsigned long long)cpu / NS_PER_US);
	fflush(stdout);
	schedstat_print(t->name);
}

static CHAIN void hog_a(void)
{
	struct mark from = mark_now();

	burn_until(CLOCK_MONOTONIC, from.wall + length);
	truth_add(&a, from);
	report(&a, from);
}

static CHAIN void hog_b(void)
{
	struct mark from = mark_now();

	burn_until(CLOCK_MONOTONIC, from.wall + length);
	truth_add(&b, from);
	report(&b, from);
}

static CHAIN void *hog_main(void *arg)
{
	bool first = arg != NULL;

	name_thread(first ? "hog_a" : "hog_b");
	pin(0, cpu_of(0));
	pthread_barrier_wait(&both);
	if (first)
		hog_a();
	else
		hog_b();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	length = arg_ns(argc, argv, 1, 3);
	pthread_barrier_init(&both, NULL, 2);
	thread_start(&threads[0], hog_main, &a);
	thread_start(&threads[1], hog_main, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
