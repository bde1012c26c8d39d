/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A machine over a moment: which processes were busy, how much CPU time the hypervisor took, and
 * whether CPUs changed their frequency.
 */
#ifndef BPFPROF_DOCTOR_MOMENT_H
#define BPFPROF_DOCTOR_MOMENT_H

#include <stddef.h>
#include <stdint.h>

#define MOMENT_MAX_BUSY 8

struct doctor_moment {
	double steal_pct;	  /* of CPU time, 0 to 100 */
	uint64_t lowest, highest; /* frequencies of CPUs in kHz, 0 = not shown */
	struct moment_busy {
		uint32_t pid;
		uint64_t ticks, before; /* of CPU time in the moment, and since it runs */
	} busy[MOMENT_MAX_BUSY];	/* those with a program, the busiest first */
	size_t nr_busy;
};

/* Reads below root, waits, and reads again. */
void moment_measure(struct doctor_moment *moment, const char *root, uint64_t ns);

#endif
