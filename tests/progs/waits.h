/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs that wait share. Each waits in functions of its own, without frame pointers,
 * and ends with a line for each of them, "truth FUNCTION US COUNT": the time it spent off the CPU,
 * which is CLOCK_MONOTONIC around the call less the thread's own CPU time.
 */
#ifndef BPFPROF_TESTS_WAITS_H
#define BPFPROF_TESTS_WAITS_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nofp.h"

#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull
#define CANNOT	  77 /* exit status: this machine has no such wait */

/* Of one function; threads add to it. */
struct truth {
	const char *name;
	atomic_ullong ns, count, blocks;
};

struct mark {
	uint64_t wall, cpu;
};

static inline struct mark mark_now(void)
{
	struct mark m = { .wall = wall_ns() };

	m.cpu = cpu_ns();
	return m;
}

/* After the call: so it is no tail call either. */
static inline void truth_add(struct truth *t, struct mark from)
{
	uint64_t cpu = cpu_ns() - from.cpu, wall = wall_ns() - from.wall;

	t->ns += wall > cpu ? wall - cpu : 0;
	t->count++;
}

/* How often this thread has left its CPU: to wait, and at all. */
struct leaves {
	long blocks, all;
};

static inline struct leaves leaves_now(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (struct leaves){ u.ru_nvcsw, u.ru_nvcsw + u.ru_nivcsw };
}

/*
 * As truth_add(), for waits so short that what a host takes from a virtual CPU matters beside them:
 * a call that never left its CPU has waited for nothing, whatever the clocks say.
 */
static inline void truth_add_short(struct truth *t, struct mark from, struct leaves before)
{
	struct leaves now = leaves_now();

	t->blocks += now.blocks - before.blocks;
	if (now.all > before.all)
		truth_add(t, from);
}

/* "blocks FUNCTION NR": how often threads went to sleep in it, as the kernel counts. */
static inline void blocks_print(struct truth *t)
{
	printf("blocks %s %llu\n", t->name, (unsigned long long)t->blocks);
}

static inline void truth_print(struct truth *t)
{
	printf("truth %s %llu %llu\n", t->name, t->ns / NS_PER_US, (unsigned long long)t->count);
	fflush(stdout);
}

/* What the kernel says that this thread has run, up to its last tick, and has waited for a CPU. */
struct schedstat {
	unsigned long long ran, waited;
};

/* False, and zeros, where the kernel does not say. */
static inline bool schedstat_now(struct schedstat *stat)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	bool said = file && fscanf(file, "%llu %llu", &stat->ran, &stat->waited) == 2;

	if (!said)
		*stat = (struct schedstat){};
	if (file)
		fclose(file);
	return said;
}

/* How long this thread has waited for a CPU, by the kernel; 0 where it does not say. */
static inline uint64_t cpu_wait_ns(void)
{
	struct schedstat stat;

	schedstat_now(&stat);
	return stat.waited;
}

/* "schedstat NAME US US". */
static inline void schedstat_print(const char *name)
{
	struct schedstat stat;

	if (schedstat_now(&stat))
		printf("schedstat %s %llu %llu\n", name, stat.ran / NS_PER_US,
		       stat.waited / NS_PER_US);
	fflush(stdout);
}

/*
 * As truth_add(), for time that a thread waits for a CPU and does nothing else: what the host takes
 * from a virtual CPU is none of it, though the clocks cannot tell. from: as the call began.
 */
static inline void truth_add_delay(struct truth *t, struct schedstat from)
{
	struct schedstat now;

	if (!schedstat_now(&now))
		exit(CANNOT);
	t->ns += now.waited - from.waited;
	t->count++;
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static inline void name_thread(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static inline __attribute__((noreturn)) void fatal(const char *what)
{
	perror(what);
	exit(1);
}

/* Argument i as a number from 1 on; fallback when it is not there. */
static inline unsigned long arg_nr(int argc, char **argv, int i, unsigned long fallback)
{
	unsigned long nr = argc > i ? strtoul(argv[i], NULL, 10) : fallback;

	return nr ? nr : 1;
}

static inline bool arg_is(int argc, char **argv, int i, const char *word)
{
	return argc > i && !strcmp(argv[i], word);
}

static inline void thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	errno = pthread_create(thread, NULL, run, arg);
	if (errno)
		fatal("pthread_create");
}

/* To CPU number nr, from 0, of those this program may use; 0, or -1. */
static inline int cpu_of(int nr)
{
	cpu_set_t set;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set))
		fatal("sched_getaffinity");
	nr %= CPU_COUNT(&set);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && !nr--)
			return cpu;
	return 0;
}

/* The thread, 0 = this one, runs on that CPU only. */
static inline void pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		fatal("sched_setaffinity");
}

static inline pid_t thread_id(void)
{
	return (pid_t)syscall(SYS_gettid);
}

#endif
