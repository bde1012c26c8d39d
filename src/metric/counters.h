/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters: events opened for threads, for CPUs or for a cgroup, started, and read as sums. No
 * event is in a group, so that the kernel can let them take turns, except where it wants one:
 * topdown-* of Intel with their slots.
 */
#ifndef BPFPROF_METRIC_COUNTERS_H
#define BPFPROF_METRIC_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/opt.h"
#include "event/catalog.h"
#include "metric/count.h"

/* What is counted; borrowed, and with nothing set all CPUs. */
struct counters_target {
	const struct opt_ids *pids, *tids; /* NULL or empty = none */
	pid_t held;		    /* a program that has not done its exec: counts from there */
	bool no_children;	    /* leave out what these start later */
	const struct opt_ids *cpus; /* -C */
	int cgroup_fd;		    /* -1 = none */
};

/* What was counted since counters_start(), all places together. */
struct counter_value {
	uint64_t raw, enabled_ns, running_ns;
	bool lost; /* the kernel gave it up */
};

struct counters;

/*
 * Opens, not yet started. An event that cannot be opened anywhere is no error, its count tells
 * why. NULL with errno set, logged: nothing may be opened at all, no more files, no thread left.
 */
struct counters *counters_open(const struct event *events, size_t nr, bool slots_group,
			       const struct counters_target *target);

void counters_start(struct counters *c); /* of a held program its exec does it */
void counters_stop(struct counters *c);

/* Follows CPUs that came and went. Once a second is enough. */
void counters_refresh(struct counters *c);

/* values[nr events], of one CPU or, with cpu -1, of all that is counted. */
void counters_read(const struct counters *c, int cpu, struct counter_value *values);

/* The count of an event from two readings; before NULL = the start. */
struct count counters_count(const struct counters *c, size_t event, const struct counter_value *now,
			    const struct counter_value *before);

/* The descriptor of each event on each CPU; of threads there are none. */
void counters_for_each_cpu(const struct counters *c,
			   void (*f)(void *arg, uint32_t cpu, size_t event, int fd), void *arg);

/* The kernel lets us count in user mode only, so that is what was counted. */
bool counters_user_only(const struct counters *c);

/* Threads that appeared while the counters were being opened: some may not be counted. */
uint32_t counters_missed_threads(const struct counters *c);

void counters_close(struct counters *c);

#endif
