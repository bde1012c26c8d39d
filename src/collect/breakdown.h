/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts by thread, process or cgroup: from accounts (accounts.h) to rows of a report. Who was not
 * asked for is summed up as filtered, so rows, idle, filtered and lost are all that was counted.
 */
#ifndef BPFPROF_COLLECT_BREAKDOWN_H
#define BPFPROF_COLLECT_BREAKDOWN_H

#include <stdint.h>
#include <sys/types.h>

#include "collect/stat.h"
#include "collect/stat_plan.h"
#include "metric/counters.h"

struct breakdown;

/* Loads the programs. NULL with errno set, logged. f and o are borrowed. */
struct breakdown *breakdown_open(const struct stat_plan *f, const struct stat_opts *o);

/* Takes the counters of all CPUs, which are not enabled yet. held: the program's process, or 0. */
int breakdown_start(struct breakdown *b, const struct counters *c, pid_t held);

/* About once a second: CPUs that came back, and room for new threads. */
void breakdown_refresh(struct breakdown *b, const struct counters *c);

/* Fills rows with what was counted since the last time. last: ends it, counters are disabled. */
int breakdown_fill(struct breakdown *b, struct stat_report *r, double seconds, bool last);

void breakdown_close(struct breakdown *b);

#endif
