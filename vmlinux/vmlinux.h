/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel as our BPF programs see it, written by hand: only structs and fields that we read.
 * Offsets come from the running kernel's BTF at load time (preserve_access_index), so order, size
 * and missing members do not matter here. Register files are ABI and spelled out per architecture.
 * The guard is the one libbpf's headers look for.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/bpf.h>

typedef _Bool bool;
enum { false = 0, true = 1 };

#if defined(__TARGET_ARCH_x86)
#include "regs_x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "regs_arm64.h"
#else
#error "no register header for this architecture in vmlinux/"
#endif

/* Context of a perf_event program: read by fixed offset, never relocated. */
struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct {
	unsigned long start_stack; /* where the kernel put argc: the main thread's stack begins right below */
};

struct task_struct {
	unsigned int __state; /* TASK_* */
	unsigned int flags;   /* PF_* */
	int pid;	    /* the thread */
	int tgid;	    /* the process */
	__u64 self_exec_id; /* raised by each exec */
	struct mm_struct *mm;
	struct thread_struct thread;
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000

#endif
