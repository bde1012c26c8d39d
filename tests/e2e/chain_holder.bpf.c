/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes stacks of threads without a pause. The kernel has one place on each CPU for the stack that
 * it takes for a thread, and it is in use nearly all the time then: who takes the CPU from us there
 * gets none.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#define TIMES 512

__u64 frames[64];

SEC("iter/task")
int hold(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	for (int i = 0; i < TIMES; i++)
		bpf_get_task_stack(task, frames, sizeof(frames), 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
