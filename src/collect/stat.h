/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counting from start to end, as record.h is for samples: finds events, opens counters, runs the
 * program or waits, and hands out reports. Knows nothing of outputs.
 */
#ifndef BPFPROF_COLLECT_STAT_H
#define BPFPROF_COLLECT_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "metric/stat.h"

struct stat_opts {
	const char *command_line; /* as it was given */
	const char *sets;	  /* of metrics */
	const char *events;	  /* besides; both NULL = what most people ask for */
	struct opt_ids pids, tids, cpus;
	const char *cgroup;
	bool all_cpus; /* whatever program runs */
	bool no_children;
	char **program;	      /* to run, NULL = none; counted unless something else is selected */
	uint64_t duration_ns; /* 0 = until a signal or the program's end */
	uint64_t interval_ns; /* 0 = one report at the end */
	uint32_t repeats;     /* runs of the program, or of duration_ns */
	struct metric_peaks peaks; /* of the machine; flops 0 = not known */
	const char *peaks_note;	   /* how these were measured; NULL = they were not */
	enum stat_by by;
	uint32_t max_rows; /* 0 = as accounts.h has it */
	bool hotspots;	   /* sample as well, in the last repeat */
	uint64_t start_ns; /* CLOCK_MONOTONIC when bpfprof began */
	/* Reports as they come; belongs to the caller. False ends it. */
	bool (*on_report)(void *arg, struct stat_report *r);
	void *arg;
};

/* The program is what is counted; else it only tells for how long. */
bool stat_counts_program(const struct stat_opts *o);

/*
 * 0; negative errno, logged: EINVAL means the options, EOPNOTSUPP that none of the requested
 * events can be counted here (the report that says so was handed out all the same).
 */
int stat_run(const struct stat_opts *o);

#endif
