/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What all programs that take stacks do: both halves interned, whatever the event was. */
#ifndef BPFPROF_BPF_STACKS_BPF_H
#define BPFPROF_BPF_STACKS_BPF_H

#include "audit.bpf.h"
#include "kernel.bpf.h"
#include "orc.bpf.h"
#include "unwind.bpf.h"

#define NO_KERNEL_STACK (-14) /* -EFAULT: what bpf_get_stack() says to a sample that has none */

/* Hashes the kernel frames in scratch id. Separately verified, or the loop would multiply. */
int stacks_hash(__u32 id);

/* Interns the nr kernel frames in scratch. False: lost. */
static __always_inline bool stacks_kernel_kind(__u32 id, struct scratch *s, __u32 kind, __u32 nr,
					       __u32 *slot)
{
	s->kernel.nr = nr;
	s->kernel.kind = kind;
	s->kernel.end = nr >= PROF_MAX_KFRAMES - 1 ? UNWIND_END_DEPTH : UNWIND_END_ROOT;
	stacks_hash(id);
	*slot = arena_stack(id, PROF_STACK_KERNEL);
	return *slot;
}

static __always_inline bool stacks_kernel_of(__u32 id, struct scratch *s, __u32 nr, __u32 *slot)
{
	return stacks_kernel_kind(id, s, PROF_STACK_KERNEL, nr, slot);
}

/*
 * Interns what stack the current thread has in the kernel; a program's context is what
 * bpf_get_stack() wants. False: lost.
 */
static __always_inline bool stacks_kernel(void *ctx, __u32 id, struct scratch *s, __u32 *slot)
{
	long bytes = bpf_get_stack(ctx, s->kernel.frames, PROF_MAX_KFRAMES * sizeof(__u64), 0);

	if (bytes < 0 && bytes != NO_KERNEL_STACK)
		counters_add(PROF_KSTACK_FAILED);
	return bytes <= 0 || stacks_kernel_of(id, s, (__u32)bytes / 8, slot);
}

/* The same of a sample, whose context has the registers of what it interrupted in the kernel. */
static __always_inline bool stacks_kernel_sampled(struct bpf_perf_event_data *ctx, __u32 id,
						  struct scratch *s, __u32 *slot)
{
	__u32 walked;

	if (!prof_cfg.orc || !REGS_ARE_WHOLE(&ctx->regs))
		return stacks_kernel(ctx, id, s, slot);
	s->at = (struct step){ .pc = REGS_PC(&ctx->regs),
			       .sp = REGS_SP(&ctx->regs),
			       .fp = REGS_FP(&ctx->regs),
			       .inner = 1 };
	if (!orc_walk(id)) {
		if (prof_cfg.audit)
			counters_add(PROF_WALKED);
		return stacks_kernel(ctx, id, s, slot);
	}
	s->kernel.kind = PROF_STACK_KERNEL;
	s->kernel.end = UNWIND_END_ROOT;
	*slot = arena_stack(id, PROF_STACK_KERNEL);
	if (!prof_cfg.audit)
		return *slot;
	walked = *slot;
	counters_add(PROF_VERIFIED);
	if (stacks_kernel(ctx, id, s, slot) && *slot != walked) {
		counters_add(PROF_AUDIT_WRONG);
		audit_disagrees(PROF_STACK_KERNEL, walked, *slot);
	}
	return *slot;
}

/* Why the thread whose entry registers are in scratch->regs cannot be walked. */
static __always_inline __u32 stacks_unwalkable(const struct scratch *s)
{
	const struct pt_regs *regs = (const struct pt_regs *)s->regs;

	return STATUS_IS_COMPAT(REGS_STATUS(regs)) ? UNWIND_END_COMPAT : UNWIND_END_READ;
}

/*
 * Interns the user stack of the current thread from the registers in scratch, or an empty one that
 * says why it cannot be walked. False: lost.
 */
static __always_inline bool stacks_user(__u32 id, struct scratch *s, __u32 unwalkable, __u32 *slot)
{
	if (unwalkable)
		unwind_nothing(s,
			       unwalkable == UNWIND_END_READ ? stacks_unwalkable(s) : unwalkable);
	else
		unwind_user(id);
	*slot = arena_stack(id, PROF_STACK_USER);
	return *slot;
}

static __always_inline bool stacks_has_user(const struct task_struct *task)
{
	return !(task->flags & kernel_flags_without_user()) && task->mm;
}

#endif
