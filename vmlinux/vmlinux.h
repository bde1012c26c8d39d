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

/*
 * System calls of 32-bit processes have numbers of their own: one stands for all. verifier: without
 * a branch, or it looks at everything that follows twice.
 */
#define SYSCALL_NUMBER(nr, status)                                                                 \
	({                                                                                         \
		int nr_ = (nr);                                                                    \
		__s64 other_ = -(__s64)(STATUS_IS_COMPAT(status) && nr_ >= 0);                     \
                                                                                                   \
		asm volatile("" : "+r"(other_));                                                   \
		(int)((nr_ & ~other_) | (PROF_SYSCALL_COMPAT & other_));                           \
	})

/* Context of a perf_event program: read by fixed offset, never relocated. */
struct bpf_perf_event_data {
	bpf_user_pt_regs_t regs;
	__u64 sample_period;
	__u64 addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* Where threads run while a probe stands in their way: its first instruction is the trampoline. */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area; /* NULL until a probe of the process is hit */
};

struct rw_semaphore {
	unsigned int unused;
};

struct mm_struct {
	struct rw_semaphore mmap_lock;
	unsigned long start_stack; /* where the kernel put argc: the main thread's stack begins right below */
	unsigned long start_brk, brk; /* the heap */
	struct uprobes_state uprobes_state; /* with CONFIG_UPROBES */
};

struct file;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	struct file *vm_file; /* NULL: anonymous memory */
};

/* A call that returns to the trampoline, since there is a return probe on it. */
struct return_instance {
	unsigned long stack;	      /* pointer at the entry */
	unsigned long orig_ret_vaddr; /* where it returns to */
	struct return_instance *next; /* its caller's, or that of another probe on the same call */
};

struct uprobe_task {
	struct return_instance *return_instances;
};

/* Kept since 5.14 whenever the kernel is built with CONFIG_SCHED_INFO; empty without. */
struct sched_info {
	unsigned long pcount;		/* times that the task was given a CPU */
	unsigned long long run_delay;	/* ns that the task has waited for a CPU, but for now */
	unsigned long long last_queued; /* clock of its run queue, 0 = it does not wait */
};

struct rq {
	__u64 clock; /* ns */
};

struct cfs_rq {
	struct rq *rq; /* with CONFIG_FAIR_GROUP_SCHED */
	/* With CONFIG_CFS_BANDWIDTH, for how long its cgroup has been throttled here, ns: */
	__u64 throttled_clock_self, throttled_clock_self_time; /* kernel >= 6.6; since, 0 = not now */
	__u64 throttled_clock_pelt_time;		       /* kernel >= 5.19 */
	__u64 throttled_clock_task_time;		       /* kernel < 5.19 */
	int throttle_count; /* limits of it and of cgroups above that are reached; 0 = it may run */
};

struct sched_entity {
	__u64 sum_exec_runtime; /* ns that the task has run, of whatever class */
	unsigned char sched_delayed; /* kernel >= 6.12: sleeps, but is still on its run queue */
	struct cfs_rq *cfs_rq;	     /* with CONFIG_FAIR_GROUP_SCHED; of the task's CPU */
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self; /* first */
	struct kernfs_node *kn;
};

/* A part of an I/O request, as it was submitted. */
struct bvec_iter {
	unsigned int bi_size; /* bytes */
};

struct bio {
	struct bio *bi_next; /* of the same request */
	unsigned int bi_opf; /* enum req_op and flags */
	struct bvec_iter bi_iter;
};

/* What a device does at once: one bio, or several that lie behind each other. */
struct request {
	struct bio *bio; /* the first one that is not done */
};

struct bio_list;

/* Shared by the threads of a process. */
struct spinlock {
	unsigned int unused;
};

/* Numbers of a task, one for each namespace from the first one down to its own. */
struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

/* That of PIDs is the one in which children get theirs: nearly always the task's own. */
struct nsproxy {
	struct pid_namespace *pid_ns_for_children;
};

struct sighand_struct {
	struct spinlock siglock;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	unsigned int __state; /* TASK_* */
	unsigned int flags;   /* PF_* */
	unsigned char on_rq, on_cpu; /* kernel < 7.1: int */
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned in_iowait : 1;
	unsigned char throttled; /* kernel >= 6.18, with CONFIG_CFS_BANDWIDTH */
	int prio;
	int pid;	    /* the thread */
	int tgid;	    /* the process */
	__u64 self_exec_id; /* raised by each exec */
	__u64 start_time;   /* CLOCK_MONOTONIC ns */
	struct task_struct *group_leader;
	unsigned long nvcsw, nivcsw; /* switches so far: it waited; it was made to go */
	char comm[16];
	struct mm_struct *mm;
	struct uprobe_task *utask; /* with CONFIG_UPROBES */
	struct css_set *cgroups;
	struct bio_list *bio_list; /* while a driver makes further bios of one; else NULL */
	struct nsproxy *nsproxy;
	struct pid *thread_pid;
	struct sighand_struct *sighand;
	struct thread_struct thread;
};

struct kernel_clone_args {
	__u32 user_worker : 1; /* kernel >= 6.4 */
};

/* Any type that begins with 64 bits (kernel_word in bpf/kernel.bpf.h). */
struct timespec64 {
	__s64 tv_sec;
};

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};


#pragma clang attribute pop

#define PF_IO_WORKER   0x00000010
#define PF_WQ_WORKER   0x00000020 /* of a work queue */
#define PF_USER_WORKER 0x00004000
#define PF_KTHREAD     0x00200000

#define MAX_RT_PRIO 100 /* from here on, tasks are subject to CPU quota */

#define TASK_INTERRUPTIBLE 0x1
#define TASK_DEAD 0x80
#define EXIT_ANY  0x30 /* EXIT_DEAD, EXIT_ZOMBIE */

#endif
