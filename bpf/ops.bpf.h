/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Operations from their begin to their end, whatever they are. */
#ifndef BPFPROF_BPF_OPS_BPF_H
#define BPFPROF_BPF_OPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "call_rows.bpf.h"
#include "ops.h"

/* One that begins. */
struct op_begin {
	__u64 key;    /* by which its end is known: unlike that of all others that are open */
	__u32 event;  /* of the profile */
	__u32 place;  /* enum klock_place, of */
	__u64 word;   /* what tells rows of an event apart; 0 = nothing */
	bool goes_on; /* one that is open has not ended: this is part of it */
};

/* In the current thread; ctx is the program's. Filters, takes the stacks, and counts. */
__hidden void ops_begin(void *ctx, const struct op_begin *b);
/* It turns out to be of another event: one behind its own, or nothing happens. */
__hidden void ops_change(__u64 key, __u32 event);
/* Anywhere. 0: none was open, so nothing happens. Separately verified. */
int ops_end(__u64 key);

#endif
