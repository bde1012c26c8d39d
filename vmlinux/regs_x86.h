/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registers of x86-64 as perf and the entry code lay them out (arch/x86 ptrace ABI). */
#ifndef BPFPROF_VMLINUX_REGS_X86_H
#define BPFPROF_VMLINUX_REGS_X86_H

struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx;
	__u64 r11, r10, r9, r8, ax, cx, dx, si, di;
	__u64 orig_ax, ip, cs, flags, sp, ss;
};
typedef struct pt_regs bpf_user_pt_regs_t;

/* Expressions, not functions: a context pointer may only be read field by field. */
#define REGS_PC(r)	  ((r)->ip)
#define REGS_SP(r)	  ((r)->sp)
#define REGS_FP(r)	  ((r)->bp)
#define REGS_LR(r)	  0 /* none: the return address is on the stack */
#define REGS_STATUS(r)	  ((r)->cs)
#define REGS_GO(r)	  ((r)->r14) /* the goroutine, since Go 1.17 */
/* As an interrupt has kept them, and not some by which the kernel says where it is itself. */
#define REGS_ARE_WHOLE(r) ((r)->flags & 2)
#define RETURN_ADDRESS_BYTES 8 /* on the stack, until the function returns */
/* The system call that the thread is in, -1 = none. */
#define REGS_SYSCALL(r)	  SYSCALL_NUMBER((int)(r)->orig_ax, REGS_STATUS(r))
/* What it was called with, as the kernel has it until the call returns. */
#define REGS_CALL_ARG1(r) ((r)->di)
#define REGS_CALL_ARG2(r) ((r)->si)
#define REGS_CALL_ARG3(r) ((r)->dx)
#define SYSCALL_FUTEX	  202
#define SYSCALL_EPOLL	  232
#define SYSCALL_EPOLL_P	  281
#define SYSCALL_EXIT	  60
#define SYSCALL_SIGRETURN 15
/* Only the low 16 bits are the selector: kernels with FRED keep event data above them. */
#define STATUS_IS_USER(s)   (((s) & 3) == 3)
#define STATUS_IS_COMPAT(s) (((s) & 0xffff) == 0x23)

struct thread_struct {
	unsigned long fsbase;
} __attribute__((preserve_access_index));
#define THREAD_POINTER(task) ((task)->thread.fsbase)

#endif
