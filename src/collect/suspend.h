/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For how long the machine was suspended: a clock that goes on then, less one that does not. */
#ifndef BPFPROF_COLLECT_SUSPEND_H
#define BPFPROF_COLLECT_SUSPEND_H

#include <stdint.h>

/* Since it was booted; more than that by what passes between the two readings. */
uint64_t suspend_read_ns(void);

/*
 * Between two such values. They may be too large by some time each, so the second one may be the
 * smaller: that, and less than 10 ms, is none.
 */
uint64_t suspend_between_ns(uint64_t first_ns, uint64_t second_ns);

#endif
