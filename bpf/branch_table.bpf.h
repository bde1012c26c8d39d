/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the sampling program does with branch records. */
#ifndef BPFPROF_BPF_BRANCH_TABLE_BPF_H
#define BPFPROF_BPF_BRANCH_TABLE_BPF_H

#include "arena.bpf.h"
#include "branches.bpf.h"

/* Where the records of a sample are read to. */
__hidden struct branch_records *branches_buffer(void);

/* Adds those that are there. In scratch id, whose stacks are done with. Verified apart. */
int branches_all(__u32 id);

/* The records of the sample that ctx is of; the kernel hands them to this program only. */
static __always_inline void branches_take(void *ctx, __u32 id)
{
	struct branch_records *b = branches_buffer();
	long bytes;

	if (!b)
		return;
	bytes = bpf_read_branch_records(ctx, b->v, sizeof(b->v), 0);
	if (bytes <= 0)
		return;
	b->nr = (__u32)bytes / sizeof(*b->v);
	branches_all(id);
}

#endif
