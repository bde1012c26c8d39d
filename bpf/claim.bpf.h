/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scratch of programs that threads run into: who is preempted there keeps what it has claimed. */
#ifndef BPFPROF_BPF_CLAIM_BPF_H
#define BPFPROF_BPF_CLAIM_BPF_H

#include "arena.bpf.h"

/* NULL: all of this CPU are taken. */
static __always_inline struct scratch *take_scratch(__u32 *id)
{
	struct scratch *s;

	for (__u32 i = 0; i < NR_UPROBE_SCRATCHES; i++) {
		*id = SCRATCH_UPROBE + i;
		s = scratch_get(*id);
		if (s && !__sync_val_compare_and_swap(&s->busy, 0, 1))
			return s;
	}
	return NULL;
}

static __always_inline void give_scratch(struct scratch *s)
{
	__sync_lock_test_and_set(&s->busy, 0);
}

#endif
