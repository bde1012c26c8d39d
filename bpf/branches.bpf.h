/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Branch records: with each sample the hardware hands out the branches that were taken last. Each
 * pair (from, to) has a row; both ends are interned as stacks of one frame, so they are named like
 * any frame, and a branch from user code into the kernel is one too. branch_add() is pure, and
 * tested on the host.
 */
#ifndef BPFPROF_BPF_BRANCHES_BPF_H
#define BPFPROF_BPF_BRANCHES_BPF_H

#include "prof.h"

/* What a record says besides from and to, as bits of struct perf_branch_entry's third word. */
#define BRANCH_MISPREDICTED 1ull
#define BRANCH_PREDICTED    2ull
#define BRANCH_CYCLES(word) ((word) >> 4 & 0xffff)

/* Neither bit: the hardware does not say, which is not "predicted". */
static inline void branch_add(struct prof_branch *row, __u64 word)
{
	__u64 cycles = BRANCH_CYCLES(word);

	__sync_fetch_and_add(&row->count, 1);
	if (word & BRANCH_MISPREDICTED)
		__sync_fetch_and_add(&row->mispredicted, 1);
	else if (!(word & BRANCH_PREDICTED))
		__sync_fetch_and_add(&row->untold, 1);
	if (!cycles)
		return;
	__sync_fetch_and_add(&row->cycles, cycles);
	__sync_fetch_and_add(&row->timed, 1);
}

#define BRANCH_MAX_RECORDS 64 /* no hardware has more than 32 */

struct branch_record {
	__u64 from, to, word; /* struct perf_branch_entry */
};

struct branch_records {
	struct branch_record v[BRANCH_MAX_RECORDS];
	__u32 nr, pad;
};

#endif
