/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel has counted of the whole machine since it booted (/proc/stat). */
#ifndef BPFPROF_EVENT_KERNEL_COUNTS_H
#define BPFPROF_EVENT_KERNEL_COUNTS_H

#include <stdint.h>
#include <stdio.h>

struct kernel_counts {
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	uint64_t switches; /* on all CPUs, those from and to idle included; 0 = unknown */
	uint64_t ran_ns;   /* that CPUs were neither idle nor taken by a host; in ticks */
};

struct kernel_counts kernel_counts_read(void);
/* Without a time. */
struct kernel_counts kernel_counts_parse(FILE *f);

/*
 * Between two readings, for how long nr_cpus CPUs did not run: idle, taken by the host, or away so
 * long that the kernel's own tick was lost. Some ticks more, since times are rounded down to one.
 */
uint64_t kernel_counts_away_ns(const struct kernel_counts *from, const struct kernel_counts *to,
			       uint64_t nr_cpus);

#endif
