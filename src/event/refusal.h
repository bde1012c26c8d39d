/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel refused, and the way out: the same words wherever bpf() fails. */
#ifndef BPFPROF_EVENT_REFUSAL_H
#define BPFPROF_EVENT_REFUSAL_H

#include <stdbool.h>

/*
 * "WHAT (the kernel refused; WAY OUT): REASON". WHAT says what could not be done. err is a
 * negative errno. Returns it, but -EIO for -EINVAL: that would mean a mistake on the command line.
 */
__attribute__((format(printf, 2, 3))) int refusal_tell(int err, const char *what, ...);

/* "needs CAP_BPF and CAP_PERFMON ..." of that negative errno. */
const char *refusal_way_out(int err);

/* By ulimit -v or -d; libbpf does not always say that it was for want of memory. */
bool refusal_memory_is_limited(void);

#endif
