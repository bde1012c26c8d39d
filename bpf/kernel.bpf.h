/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What differs between the kernels that we run on, all of it and only here: each difference is one
 * accessor with the reason. Which kernel it is gets decided when the program is loaded, from its
 * type information, never from its version.
 */
#ifndef BPFPROF_BPF_KERNEL_BPF_H
#define BPFPROF_BPF_KERNEL_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

/*
 * The registers that a thread had in user mode when it entered the kernel. Where they lie below the
 * top of the kernel stack depends on the kernel: x86-64 with support for FRED (7.x) leaves 16 bytes
 * more than before, so the usual constant finds nothing there. The kernel itself knows; it offers
 * its answer as a helper since 5.15, which is why that is the oldest kernel we run on.
 */
static __always_inline bool kernel_entry_regs(struct task_struct *task, struct pt_regs *regs)
{
	return !bpf_probe_read_kernel(regs, sizeof(*regs), (void *)bpf_task_pt_regs(task));
}

/*
 * What sched_switch is called with. kernel < 5.19: without the last argument. (5.18 had it second
 * for a while, which was taken back as a mistake.)
 */
typedef void (*btf_trace_sched_switch)(void *data, bool preempt, struct task_struct *prev,
				       struct task_struct *next, unsigned int prev_state);

/* kernel >= 6.1: tells the freezer, not why a thread waits, and stands beside what does. */
#define TASK_FREEZABLE 0x2000

/*
 * The state in which prev leaves the CPU, given the context of tp_btf/sched_switch: 0 when it could
 * go on running. Where the argument exists it is the truth; read from the task, the state may have
 * been changed by a wake-up on another CPU meanwhile. The field is named __state since 5.14.
 */
static __always_inline __u32 kernel_prev_state(const unsigned long long *ctx)
{
	const struct task_struct *prev = (const struct task_struct *)ctx[1];

	if (bpf_core_type_exists(btf_trace_sched_switch))
		return (__u32)ctx[3] & ~TASK_FREEZABLE;
	return prev->__state & ~TASK_FREEZABLE;
}

#endif
