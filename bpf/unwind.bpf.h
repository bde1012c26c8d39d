/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User stacks: from (registers, thread) to frames. This is the only place that knows how a user
 * stack is walked; callers put the registers of the innermost user frame into the scratch and get
 * frames, their hash and the reason of the end.
 */
#ifndef BPFPROF_BPF_UNWIND_BPF_H
#define BPFPROF_BPF_UNWIND_BPF_H

#include "arena.bpf.h"

/*
 * Walks from scratch->pc, sp, fp and lr into scratch->user, leaf first; what cannot be walked yet
 * is deferred to user space. Separately verified, so its cost does not multiply with the callers'
 * paths. The current thread must have user memory.
 */
int unwind_user(__u32 id);

/* Nothing was read, and nothing is missing so far. */
static __always_inline void unwind_fresh(struct scratch *s)
{
	s->deferred = 0;
	s->nr_reads = 0;
	s->read_span = 0;
	s->fp_from = FP_UNUSED;
	s->lr_used = 0;
}

/* An empty user stack that only says why there is none. */
static __always_inline void unwind_nothing(struct scratch *s, __u32 end)
{
	unwind_fresh(s);
	s->user.hash = prof_cfg.seed;
	s->user.nr = 0;
	s->user.end = end;
	s->user.kind = PROF_STACK_USER;
	s->user.guessed = 0;
}

/* The innermost user frame from struct pt_regs, or from a context that begins with one. */
#define UNWIND_FROM(s, r)                                                                          \
	do {                                                                                       \
		(s)->pc = REGS_PC(r);                                                              \
		(s)->sp = REGS_SP(r);                                                              \
		(s)->fp = REGS_FP(r);                                                              \
		(s)->lr = REGS_LR(r);                                                              \
	} while (0)

/*
 * The user registers of the current thread while it is in the kernel. False for threads that have
 * none.
 */
__hidden bool unwind_regs_saved(struct scratch *s, struct task_struct *task);

/*
 * Goes over to the goroutine that morestack works for. rule: RULE_GO_SAVED or RULE_GO_SAVED_SP.
 * Returns why the walk ends, or NONE. Separately verified.
 */
int unwind_goroutine(__u32 id, __u32 rule);

#endif
