/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which functions use the CPU, for a report of counts: a recording of samples in a process of its
 * own, beside the counting.
 */
#ifndef BPFPROF_COLLECT_HOTSPOTS_H
#define BPFPROF_COLLECT_HOTSPOTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "collect/stat.h"
#include "metric/stat.h"

struct hotspots {
	pid_t pid; /* of the recording, 0 = none */
	int ready; /* pipe that tells when it is */
	int file;  /* what it leaves */
};

/*
 * Starts it for the same threads; held is a program that waits for its start, or 0. Returns when
 * samples are about to be taken, or cannot be: that is told in the report and stops nothing.
 */
void hotspots_start(struct hotspots *h, const struct stat_opts *o, pid_t held);

/* Ends it without a result, if it runs. */
void hotspots_abort(struct hotspots *h);

/* Ends it and puts the first functions into the report. */
void hotspots_finish(struct hotspots *h, struct stat_report *r);

#endif
