/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registers of aarch64 as perf and the entry code lay them out (struct user_pt_regs, ABI). */
#ifndef BPFPROF_VMLINUX_REGS_ARM64_H
#define BPFPROF_VMLINUX_REGS_ARM64_H

struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
struct pt_regs {
	__u64 regs[31], sp, pc, pstate;
};
/* What the kernel keeps behind them. */
struct entry_regs {
	struct pt_regs user;
	__u64 orig_x0;
	__s32 syscallno;
};
typedef struct user_pt_regs bpf_user_pt_regs_t;

#define REGS_PC(r)	  ((r)->pc)
#define REGS_SP(r)	  ((r)->sp)
#define REGS_FP(r)	  ((r)->regs[29])
#define REGS_LR(r)	  ((r)->regs[30])
#define REGS_STATUS(r)	  ((r)->pstate)
#define REGS_GO(r)	  ((r)->regs[28]) /* the goroutine */
#define REGS_ARE_WHOLE(r) 0 /* nobody asks */
#define RETURN_ADDRESS_BYTES 0 /* it is in a register */
/* The system call that the thread is in, -1 = none. */
#define REGS_SYSCALL(r)	  SYSCALL_NUMBER(((struct entry_regs *)(r))->syscallno, REGS_STATUS(r))
/* What it was called with, as the kernel has it until the call returns. */
#define REGS_CALL_ARG1(r) (((struct entry_regs *)(r))->orig_x0)
#define REGS_CALL_ARG2(r) ((r)->regs[1])
#define REGS_CALL_ARG3(r) ((r)->regs[2])
#define SYSCALL_FUTEX	  98
#define SYSCALL_EPOLL	  22 /* epoll_pwait, which is all there is */
#define SYSCALL_EPOLL_P	  22
#define SYSCALL_EXIT	  93
#define SYSCALL_SIGRETURN 139
#define STATUS_IS_USER(s)   (((s) & 0xf) == 0)
#define STATUS_IS_COMPAT(s) (((s) & 0x10) != 0)

struct thread_struct {
	struct {
		unsigned long tp_value;
	} __attribute__((preserve_access_index)) uw;
} __attribute__((preserve_access_index));
#define THREAD_POINTER(task) ((task)->thread.uw.tp_value)

#endif
