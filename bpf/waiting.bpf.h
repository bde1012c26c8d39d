/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a thread waits for, as the scheduler says it (prof_count.wait). */
#ifndef BPFPROF_BPF_WAITING_BPF_H
#define BPFPROF_BPF_WAITING_BPF_H

#include "kernel.bpf.h"
#include "prof.h"

#define NO_SYSCALL (-1)

/* The system call that a thread is in which does not run code of its own. */
static __always_inline int syscall_of(struct task_struct *task)
{
	if (task->flags & PF_KTHREAD)
		return NO_SYSCALL;
	return REGS_SYSCALL((struct pt_regs *)bpf_task_pt_regs(task));
}

/* Of prev, now that it leaves its CPU. */
static __always_inline __u32 wait_of(const __u64 *ctx, struct task_struct *prev)
{
	__u32 state = kernel_prev_state(ctx), wait;
	int nr = syscall_of(prev);

	if (!kernel_is_blocked(ctx, state))
		return PROF_WAIT(kernel_is_throttled(prev) ? PROF_THROTTLED : PROF_PREEMPTED, 0,
				 nr);
	wait = PROF_WAIT(PROF_BLOCKED, state & 0xfff, nr);
	return BPF_CORE_READ_BITFIELD(prev, in_iowait) ? wait | PROF_WAIT_IO : wait;
}

#endif
