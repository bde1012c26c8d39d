/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scratch of programs that threads run into: who is preempted there keeps what it has claimed. */
#ifndef BPFPROF_BPF_CLAIM_BPF_H
#define BPFPROF_BPF_CLAIM_BPF_H

#include "arena.bpf.h"

/*
 * Claims one of this CPU: its number, 0 = all are taken. Separately verified, or what is done with
 * it would be, for each of them.
 */
int claim_scratch(void);

/* NULL: all of this CPU are taken. */
static __always_inline struct scratch *take_scratch(__u32 *id)
{
	*id = claim_scratch();
	return *id ? scratch_get(*id) : NULL;
}

static __always_inline void give_scratch(struct scratch *s)
{
	__sync_lock_test_and_set(&s->busy, 0);
}

#endif
