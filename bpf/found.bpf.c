/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits that had begun before the recording: the kernel's half of the stack is taken as it is, the
 * user's is left to user space.
 */
#include "waits.bpf.h"
#include "defer.bpf.h"
#include "stacks.bpf.h"

/* False: lost. */
static __always_inline bool found_kernel(struct scratch *s, struct task_struct *task)
{
	long bytes =
		bpf_get_task_stack(task, s->kernel.frames, PROF_MAX_KFRAMES * sizeof(__u64), 0);

	if (bytes < 0)
		counters_add(PROF_KSTACK_FAILED);
	return bytes <= 0 || stacks_kernel_kind(SCRATCH_TASKS, s, PROF_STACK_KERNEL_ASLEEP,
						(__u32)bytes / 8, &s->known.kstack);
}

/* False: lost. */
static __always_inline bool found_user(struct scratch *s, struct task_struct *task)
{
	s->owner = stack_owner_of(task);
	if (unwind_regs_saved(s, task))
		defer_sleeper(s, task);
	else
		unwind_nothing(s, stacks_unwalkable(s));
	s->known.ustack = arena_stack(SCRATCH_TASKS, PROF_STACK_USER);
	return s->known.ustack;
}

__hidden __u32 wait_found(struct task_struct *task)
{
	struct scratch *s = scratch_get(SCRATCH_TASKS);

	if (!s)
		return PROF_LOST_SCRATCH;
	if (!prof_cfg.stacks)
		return 0;
	if (!prof_cfg.no_kstacks && !found_kernel(s, task))
		return PROF_LOST_STACKS;
	if (!prof_cfg.no_ustacks && stacks_has_user(task) && !found_user(s, task))
		return PROF_LOST_STACKS;
	return 0;
}
