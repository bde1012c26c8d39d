/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording from start to end: opens everything, runs until its time is over, the target ends or
 * a signal comes, and leaves a symbolized profile. Ties together event, proc, symbol and profile;
 * knows nothing of outputs.
 */
#ifndef BPFPROF_COLLECT_RECORD_H
#define BPFPROF_COLLECT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "profile/profile.h"

struct record_opts {
	const char *command;	     /* "oncpu"; the probe of that name */
	const char *event;	     /* "cycles" or "cpu-clock"; NULL = the best there is */
	const char *file, *function; /* of the probe "uprobe" */
	uint32_t rate_hz;	     /* at most host_max_rate(); 0 = 99 with a target, 49 without */
	uint64_t duration_ns;	     /* 0 = until a signal or the target's end */
	char **program;		     /* to start, NULL = none */
	struct opt_ids pids, tids, cpus;
	const char *comm;   /* glob list */
	const char *cgroup; /* path, below the cgroup2 mount or absolute */
	bool no_children;
	bool user_threads, kernel_threads; /* only these */
	bool user_stacks, kernel_stacks;   /* only these */
	bool idle;
	uint32_t max_stacks, max_depth;
	uint64_t max_bytes;
	enum prof_call_graph call_graph;
	uint64_t unwind_bytes; /* of unwind tables at most; 0 = 64 MB */
	uint64_t start_ns;     /* CLOCK_MONOTONIC when bpfprof began */
};

struct record;

/*
 * Checks the options and the host, loads, and starts the program (not yet released). NULL with
 * errno set, logged; EINVAL means the options.
 */
struct record *record_open(const struct record_opts *o);

/* Samples until the end. 0 or negative errno, logged. */
int record_run(struct record *r);

/* The result, symbolized; belongs to the caller. Once, after record_run. */
struct profile *record_take(struct record *r);

void record_close(struct record *r);

#endif
