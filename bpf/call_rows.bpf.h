/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where calls that have returned are added. */
#ifndef BPFPROF_BPF_CALL_ROWS_BPF_H
#define BPFPROF_BPF_CALL_ROWS_BPF_H

#include "open_calls.bpf.h"

/* What a call was added to. */
struct call_rows {
	__u32 hist, count; /* slots + 1 */
	__u32 generation;  /* of the arena */
};

/*
 * Records a call of ns that has just returned, of the kernel: why not, or PROF_RECORDED; then used
 * is set. Takes a scratch.
 */
__hidden __u32 calls_record(void *ctx, __u64 cookie, const struct open_call *call, __u64 ns,
			    struct call_rows *used);

/*
 * Adds to the histogram of an event and values on this CPU: its slot + 1, 0 = there is no room.
 * Separately verified.
 */
int calls_hist(__u32 event, __u32 values, __u64 ns);

/* The same by the slot + 1. */
__hidden void calls_hist_add(__u32 slot, __u64 ns);

#endif
