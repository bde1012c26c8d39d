/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Settings of this host, and whether a process is there; what it lacks for recording is up to
 * src/doctor.
 */
#ifndef BPFPROF_EVENT_HOST_H
#define BPFPROF_EVENT_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"

/* Highest sampling rate the kernel allows (kernel.perf_event_max_sample_rate). */
uint32_t host_max_rate(void);

/* Value of a one-number file below /proc/sys, or fallback. */
long host_sysctl(const char *name, long fallback);

/*
 * Checks that a process (or thread) exists. 0, or -ESRCH after one sentence; when the number
 * belongs to a process of another PID namespace, that names it as this namespace numbers it.
 */
int host_check_pid(uint32_t pid, bool thread);

/*
 * The same of what -C lists. CPUs that are offline are passed over, unless all are (-ENODEV); one
 * that can never be is a mistake (-EINVAL).
 */
int host_check_cpus(const struct opt_ids *cpus);

#endif
