/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System calls: their names, what one costs, and where they are seen. */
#ifndef BPFPROF_COLLECT_SYSCALLS_H
#define BPFPROF_COLLECT_SYSCALLS_H

#include <stdint.h>

#include "collect/points.h"

#define SYSCALLS_MAX 512 /* numbers; all that there are lie below */

/* "read"; NULL: there is none of that number on this machine. */
const char *syscalls_name(uint32_t nr);

/* What a system call that does next to nothing takes now, the least of some batches. */
double syscalls_price_ns(void);

/*
 * All of them, by the two tracepoints that all have in common, or those of a list of names, by two
 * tracepoints each. 0 or negative errno, logged.
 */
int syscalls_add(struct points *p, const char *list);

#endif
