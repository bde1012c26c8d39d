/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs at functions of programs and of the kernel. Each forbids its own preemption where it can
 * (kernel_preempt_off() says why that matters) and leaves the work to one function. They are in one
 * file since libbpf 1.1 links no two files that declare the same function of the kernel.
 */
#include "guarded.bpf.h"
#include "kernel.bpf.h"

#define GUARDED(name, work)                                                                        \
	SEC("?kprobe")                                                                             \
	int name(struct pt_regs *ctx)                                                              \
	{                                                                                          \
		kernel_preempt_off();                                                              \
		work(ctx);                                                                         \
		kernel_preempt_on();                                                               \
		return 0;                                                                          \
	}

/*
 * One program for both ends of a call (BPF_TRACE_UPROBE_SESSION). It is asked at the entry whether
 * it wants to see the return: 1 = no, and the thread is not led through the kernel's trampoline.
 */
#define SESSION(name, entered, returned)                                                           \
	static __always_inline int name##_sees(struct pt_regs *ctx)                                \
	{                                                                                          \
		if (bpf_get_func_ip(ctx) == REGS_PC(ctx))                                          \
			return !entered(ctx);                                                      \
		returned(ctx);                                                                     \
		return 0;                                                                          \
	}                                                                                          \
	SEC("?kprobe")                                                                             \
	int name(struct pt_regs *ctx)                                                              \
	{                                                                                          \
		int unwanted;                                                                      \
                                                                                                   \
		kernel_preempt_off();                                                              \
		unwanted = name##_sees(ctx);                                                       \
		kernel_preempt_on();                                                               \
		return unwanted & 1;                                                               \
	}

GUARDED(calls_entry, calls_entered)
GUARDED(calls_return, calls_returned)
GUARDED(calls_leave, calls_left)
GUARDED(alloc_entry, alloc_entered)
GUARDED(alloc_return, alloc_returned)
GUARDED(alloc_leave, alloc_left)
SESSION(calls_session, calls_entered, calls_returned)
SESSION(alloc_session, alloc_called, alloc_returned)
