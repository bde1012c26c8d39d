/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Recordings of operations (bpf/ops.h): what they are called, and what of them the kernel shows.
 */
#ifndef BPFPROF_COLLECT_OPS_H
#define BPFPROF_COLLECT_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/links.h"

/* Programs that are loaded together: of what, and by which of the kernel's names. */
enum ops_part {
	OPS_BLOCK = 1,
	OPS_URING = 2,
	OPS_URING_REQUEST = 4,
	OPS_URING_SQE = 8,
	OPS_CONNECT = 16,
};

struct ops_opts {
	uint32_t parts;	   /* enum ops_part */
	uint32_t max_open; /* at a time; 0 = as many as is usual */
};

/*
 * I/O by a list of kinds ("block,uring,connect"), NULL = all that this kernel shows; what it does
 * not show is said, and of a list it is an error. Fills in events and parts. 0 or negative errno,
 * logged; -EINVAL: the list.
 */
int ops_choose_io(struct ops_opts *o, struct calls_opts *calls, const char *kinds);

/* Locks of the kernel. -EOPNOTSUPP, logged: it does not show them. */
int ops_choose_locks(struct calls_opts *calls);

/* What of I/O a kernel shows that has the tracepoints that has() finds: enum ops_part. */
uint32_t ops_io_parts(bool (*has)(void *arg, const char *tracepoint), void *arg);

#endif
