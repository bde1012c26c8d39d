/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks at one thread through the accessors of bpf/kernel.bpf.h each time it leaves a CPU. */
#include "kernel.bpf.h"
#include <bpf/bpf_tracing.h>

const volatile __u32 target; /* thread */

/* Of the last time it left in a state other than running. */
__u32 state;
__u64 pc, sp;
__u32 nr_blocked, nr_preempted;

/* As kernels before 5.19 have it, under another name: what kernel_prev_state decides by. */
typedef void (*btf_trace_sched_switch___older)(void *data, bool preempt, struct task_struct *prev,
					       struct task_struct *next);
__u32 has_argument, lacks_argument;

SEC("tp_btf/sched_switch")
int kernel_switch(unsigned long long *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct pt_regs regs = {};

	if (prev->pid != target)
		return 0;
	has_argument = bpf_core_type_exists(btf_trace_sched_switch);
	lacks_argument = bpf_core_type_exists(btf_trace_sched_switch___older);
	if (!kernel_prev_state(ctx)) {
		nr_preempted++;
		return 0;
	}
	state = kernel_prev_state(ctx);
	nr_blocked++;
	if (kernel_entry_regs(prev, &regs)) {
		pc = REGS_PC(&regs);
		sp = REGS_SP(&regs);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
