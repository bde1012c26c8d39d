/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A counting while it goes on, and the parts that it is made of, each in a file of its own: what is
 * done before (stat_prepare.c), the runs (stat.c), the reports (stat_report.c), rows of CPUs
 * (stat_cpus.c). Only stat*.c include it.
 */
#ifndef BPFPROF_COLLECT_STAT_PARTS_H
#define BPFPROF_COLLECT_STAT_PARTS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/breakdown.h"
#include "collect/hotspots.h"
#include "collect/stat.h"
#include "collect/stat_plan.h"
#include "collect/target.h"
#include "metric/counters.h"

#define MAX_WATCHED 64 /* processes of -p whose end is heard of at once */

/* What each CPU counted, for its row. */
struct stat_cpus {
	uint32_t *v; /* numbers of those that are counted */
	size_t nr;
	struct counter_value *before; /* by CPU and event: what is in reports already */
	struct count *counts;	      /* by CPU and event: since then */
};

struct counting {
	const struct stat_opts *opts;
	struct catalog *catalog;
	struct stat_plan stat_plan;
	const char *sets; /* of opts, or those by default */
	struct counters_target where;
	struct counters *counters;
	struct breakdown *breakdown; /* NULL unless by something */
	struct target target;
	struct hotspots hotspots;
	int signals, timer;
	int watched[MAX_WATCHED]; /* pidfds of the first processes of -p */
	size_t nr_watched;
	sigset_t old_mask;
	uint32_t budget, interval;
	uint64_t begin_ns, begin_real_ns, tick_ns; /* of this run; of the interval that runs */
	struct counter_value *now, *before;	   /* by event */
	struct count *counts;			   /* by run and event */
	double *seconds;			   /* by run */
	struct stat_cpu_times {
		double user_ns,
			system_ns; /* of the program and its children; NAN: it did not end */
	} * cpu_times, cpu_before; /* by run; of all before this one */
	size_t nr_runs;		   /* that are over */
	uint32_t nr_bad;	   /* runs of the program that failed */
	int bad_status;		   /* of the last of them */
	bool cut;		   /* a run was ended early, and left out */
	bool stopped;		   /* by a signal, or by who takes the reports */
	bool ended;		   /* this run */
	int err;
	struct stat_cpus cpus; /* --per-cpu */
	bool user_only;
	uint32_t missed_threads;
	struct opt_ids pids; /* of the options, and what these have started already */
};

/* Finds events, selects processes, opens what all runs share. 0 or negative errno, logged. */
int stat_prepare(struct counting *c);
void stat_release(struct counting *c);

/* Rows of CPUs: chooses these, reads their counters while they are open, and fills the rows. */
void stat_cpus_open(struct counting *c);
void stat_cpus_read(struct counting *c);
void stat_cpus_fill(const struct counting *c, struct stat_report *r, double seconds);
void stat_cpus_release(struct stat_cpus *cpus);

/* A report of all runs so far, handed out. */
void stat_report_runs(struct counting *c);

/* A report of what was counted since the last tick, handed out. */
void stat_report_interval(struct counting *c);

#endif
