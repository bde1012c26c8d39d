/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of a thread between two turns of the scheduler. It lives in the kernel's storage of
 * the task, which is made when the task is born (or found by the iterator at the start), outside of
 * the scheduler's locks, and goes away with the task. So the programs at the scheduler look up and
 * never insert.
 */
#ifndef BPFPROF_BPF_THREADS_BPF_H
#define BPFPROF_BPF_THREADS_BPF_H

#include "counters.bpf.h"
#include "kernel.bpf.h"

enum thread_state {
	THREAD_NEW = 0, /* nothing was seen of it yet */
	THREAD_RUNS = 1,
	THREAD_WAITS = 2,
	THREAD_GONE = 3, /* has left its CPU for good */
	THREAD_BORN = 4, /* waits to run for the first time */
};

struct thread {
	__u64 since;	/* of this state, bpf_ktime_get_ns() */
	__u64 delay;	/* sched_info.run_delay at that time */
	__u64 ran;	/* se.sum_exec_runtime when it left its CPU */
	__u64 woken_ns; /* with prof_cfg.wakeups: since then it waits for a CPU; 0 = not yet */
	__u32 state;
	__u32 wait;    /* what it waits for (prof.h) */
	__u32 outcome; /* of the filter: 0 = wanted */
	__u32 skip;    /* of this wait alone */
	/*
	 * Slots + 1 of counts: of this wait, of the same after the wake-up, of running; 0 = none.
	 */
	__u32 count, count_woken, count_run;
	__u32 ustack, kstack; /* with prof_cfg.hops */
	__u32 waker;	      /* slot + 1 of who ended the wait */
	__u32 row;	      /* slot + 1 of its histograms */
	__u32 names; /* how often it was renamed: counts remembered before are not its own */
	__u32 pid, tid;
	struct {
		__u32 wait, count, count_woken;
	} last[2]; /* without stacks: the last waits, blocked and preempted, and their counts */
	__u32 wakers[2]; /* its own waker, alone and with that one's waker; for --hops */
	char comm[PROF_COMM_LEN];
};

/* NULL: there is none, for want of memory or because the task is older than the recording. */
__hidden struct thread *thread_get(struct task_struct *task);
/* Makes it if need be. Not at the scheduler. */
__hidden struct thread *thread_make(struct task_struct *task);

#endif
