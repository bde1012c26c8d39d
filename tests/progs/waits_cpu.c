/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CFLAGS: -O2 -fomit-frame-pointer -momit-leaf-frame-pointer -pthread */
/* LDLIBS: -lpthread */
/*
 * waits_cpu alone [SECONDS]: one thread, "alone", burns in alone().
 * waits_cpu late [SECONDS]: "hog" burns in hog() on the same CPU as "late", which sleeps for 5 ms
 * in come_late() and then burns for 3 ms in work(). late is a batch thread, so it does not make the
 * hog leave by waking up, but waits for the end of its time slice. "woken late US COUNT" is how
 * late it came in all.
 */
#include "waits.h"

#include <stdint.h>

#define NAP_NS	(5 * NS_PER_MS)
#define WORK_NS (3 * NS_PER_MS)

static struct truth alone_did = { .name = "alone" }, hog_did = { .name = "hog" },
		    work_did = { .name = "work" };
static pthread_barrier_t both;
static uint64_t length, late_ns, nr_late;

static CHAIN void alone(void)
{
	struct mark from = mark_now();

	burn_until(CLOCK_MONOTONIC, from.wall + length);
	truth_add(&alone_did, from);
	truth_print(&alone_did);
}

static CHAIN void hog(void)
{
	struct schedstat from;

	schedstat_now(&from);
	burn_until(CLOCK_MONOTONIC, wall_ns() + length);
	truth_add_delay(&hog_did, from);
}

static CHAIN void come_late(void)
{
	uint64_t until = wall_ns() + NAP_NS;
	struct timespec ts = { (time_t)(until / NS_PER_S), (long)(until % NS_PER_S) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	late_ns += wall_ns() - until;
	nr_late++;
}

static CHAIN void work(void)
{
	struct schedstat from;

	schedstat_now(&from);
	burn_until(CLOCK_THREAD_CPUTIME_ID, cpu_ns() + WORK_NS);
	truth_add_delay(&work_did, from);
}

static CHAIN void *hog_main(void *arg)
{
	name_thread("hog");
	pin(0, cpu_of(0));
	pthread_barrier_wait(&both);
	hog();
	return arg;
}

static CHAIN void *late_main(void *arg)
{
	struct sched_param param = {};
	uint64_t end;

	name_thread("late");
	pin(0, cpu_of(0));
	prctl(PR_SET_TIMERSLACK, 1);
	if (sched_setscheduler(0, SCHED_BATCH, &param))
		fatal("sched_setscheduler");
	pthread_barrier_wait(&both);
	for (end = wall_ns() + length; wall_ns() < end;) {
		come_late();
		work();
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	length = arg_ns(argc, argv, 2, 3);
	if (!arg_is(argc, argv, 1, "late")) {
		name_thread("alone");
		pin(0, cpu_of(0));
		alone();
		return 0;
	}
	pthread_barrier_init(&both, NULL, 2);
	thread_start(&threads[0], hog_main, NULL);
	thread_start(&threads[1], late_main, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	truth_print(&hog_did);
	truth_print(&work_did);
	printf("woken late %llu %llu\n", (unsigned long long)(late_ns / NS_PER_US),
	       (unsigned long long)nr_late);
	return 0;
}
