/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of a wait in the ledger: whether it is recorded, and if not, why. */
#ifndef BPFPROF_BPF_OUTCOME_BPF_H
#define BPFPROF_BPF_OUTCOME_BPF_H

#include "threads.bpf.h"

extern __u64 prof_sched_start; /* when the recording began */

static __always_inline void row_add(struct prof_counters *row, __u32 counter, __u64 n)
{
	__u64 *value = &row->value[counter % PROF_COUNTER_SLOTS];

	if (prof_cfg.running) /* samples count in the same row, and may interrupt us */
		__sync_fetch_and_add(value, n);
	else
		*value += n;
}

static __always_inline bool is_other_state(__u32 wait)
{
	if (!prof_cfg.state_mask)
		return false;
	if (PROF_WAIT_KIND(wait) != PROF_BLOCKED)
		return !(prof_cfg.state_mask >> 31);
	return !(PROF_WAIT_STATE(wait) & prof_cfg.state_mask);
}

/* Why a wait of off ns is not recorded, 0 if it is. */
static __always_inline __u32 outcome_of(const struct thread *t, __u64 off)
{
	if (t->outcome)
		return t->outcome;
	if (off > ~0ull >> 1 || t->since < prof_sched_start)
		return PROF_LOST_TIME;
	if (t->skip)
		return t->skip;
	if (off < prof_cfg.min_ns)
		return PROF_FILTER_SHORT;
	if (prof_cfg.max_ns && off > prof_cfg.max_ns)
		return PROF_FILTER_LONG;
	return 0;
}

static __always_inline bool is_loss(__u32 outcome)
{
	return outcome >= PROF_LOST_STACKS && outcome <= PROF_LOST_ROWS;
}

/* A wait of off ns was seen. False: it has another outcome (0 = none) than to be recorded. */
static __always_inline bool is_kept(struct prof_counters *row, __u32 outcome, __u64 off)
{
	row_add(row, PROF_SEEN, 1);
	if (!outcome)
		return true;
	row_add(row, outcome, 1);
	if (outcome != PROF_LOST_TIME)
		row_add(row, is_loss(outcome) ? PROF_LOST_NS : PROF_FILTER_NS, off);
	return false;
}

#endif
