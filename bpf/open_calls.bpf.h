/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls that are timed and have not returned yet, kept with who calls, innermost last. A return
 * belongs to the call that has the same stack pointer; calls above it were left by an exception or
 * by longjmp(), and nobody sees them return.
 */
#ifndef BPFPROF_BPF_OPEN_CALLS_BPF_H
#define BPFPROF_BPF_OPEN_CALLS_BPF_H

#include "call_values.bpf.h"

struct open_call {
	__u64 sp; /* of struct caller */
	__u64 pc; /* that its frame is known by when it is gone */
	__u64 start;
	__u32 event;
	__u32 values; /* slot + 1 */
};

struct goroutine {
	__u64 address;
	__u64 pid;
};
/* Who calls: a thread, or with its address a goroutine; and its stack pointer at the entry. */
struct caller {
	struct goroutine go;
	__u64 sp; /* 0 in the kernel. Of a goroutine below the top of its stack, which may move */
};

#define GO_STACK_HI 8 /* in runtime.g: where its stack ends */

/* above: bytes between the stack pointer and where it was at the entry. */
static __always_inline void find_caller(struct caller *c, struct pt_regs *regs, __u64 cookie,
					__u32 above)
{
	__u64 hi = 0;

	if (!regs || !STATUS_IS_USER(REGS_STATUS(regs)))
		return;
	c->sp = REGS_SP(regs) - above;
	if (!call_cfg.goroutines || !calls_by_goroutine(CALL_ARGS(cookie)))
		return;
	c->go.address = REGS_GO(regs);
	c->go.pid = bpf_get_current_pid_tgid() >> 32;
	bpf_probe_read_user(&hi, sizeof(hi), (void *)c->go.address + GO_STACK_HI);
	c->sp = hi - c->sp;
}

/* Opens a call: 0, or why it is not timed. Separately verified. */
int calls_begin(struct caller *c, struct open_call *call);

/*
 * Takes the call that returns out of those that are open, with all that were called by it: they
 * will not return. 0: it began before the recording, or was left out; else how many are still open
 * + 1. Separately verified.
 */
int calls_close(struct caller *c, __u32 event, struct open_call *call);

#endif
