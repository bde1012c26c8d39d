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
#include "places.bpf.h"

enum thread_state {
	THREAD_NEW = 0, /* nothing was seen of it yet */
	THREAD_RUNS = 1,
	THREAD_WAITS = 2,
	THREAD_GONE = 3, /* has left its CPU for good */
	THREAD_BORN = 4, /* waits to run for the first time */
};

/*
 * With its header in the kernel (72 bytes on 6.18) it is an allocation of 512. What every switch
 * needs comes first: with that header it is one cache line, and the keys of the places are the
 * next.
 */
struct thread {
	__u64 since; /* of this state, bpf_ktime_get_ns() */
	union {
		/* sched_info.run_delay at that time; of one that waits, with prof_cfg.wakeups: */
		__u64 delay;
		__u64 woken_ns; /* since then it waits for a CPU; 0 = not yet */
		/* If it is throttled: for how long its queue had been when that began. */
		__u64 throttled_ns;
	};
	__u64 ran;  /* se.sum_exec_runtime when it left its CPU */
	__u32 wait; /* what it waits for (prof.h) */
	/*
	 * Slots + 1 of counts: of this wait, of the same after the wake-up, of running; 0 = none.
	 */
	__u32 count, count_woken, count_run;
	__u8 state;   /* enum thread_state */
	__u8 outcome; /* of the filter: 0 = wanted */
	__u8 skip;    /* of this wait alone */
	__u8 own;     /* with prof_cfg.running: it has counts of its own, not merged */
	__u16 names;  /* how often it was renamed: counts remembered before are not its own */
	__u16 python; /* scratch->python of its last walk */
	union {
		struct places places; /* with stacks */
		struct {
			__u32 wait, count, count_woken;
		} last[2]; /* without: the last waits, blocked and preempted, and their counts */
	};
	__u32 pid, tid;
	char comm[PROF_COMM_LEN];
	__u64 queue; /* if it is throttled: struct cfs_rq, never followed unchecked */
	union {
		__u32 row;  /* with prof_cfg.hist_rows: slot + 1 of its histograms */
		__u32 pace; /* else: how often it waits (pace.bpf.h) */
	};
	union {
		__u32 waker; /* slot + 1 of who ended the wait */
		__u32 late;  /* with prof_cfg.long_wait_ns: a count, of which see below */
	};
	__u32 ustack, kstack; /* with prof_cfg.hops */
	union {
		__u32 wakers[2]; /* its own waker, alone and with that one's waker; for --hops */
		struct {	 /* with prof_cfg.lock_slots: */
			__u32 wants_waker; /* nobody else can be named */
			__u32 owner;	   /* its slot + 1 among those who may hold locks */
		};
		struct { /* with prof_cfg.skip_slots: nvcsw and nivcsw when it was looked at */
			__u32 nr_blocked, nr_preempted;
		};
	};
	union {
		__u64 lived; /* with prof_cfg.running: since when its life is not accounted for */
		/*
		 * With prof_cfg.long_wait_ns, in units of moments.bpf.c: when the last wait ended
		 * that was told, and since then the last one for events, of the count in late.
		 */
		struct {
			__u32 told_at, late_at;
		};
	};
};
_Static_assert(sizeof(struct thread) <= 440, "with its header struct thread is 512 bytes");

struct thread_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
};
extern struct thread_map threads SEC(".maps");

/* NULL: there is none, for want of memory or because the task is older than the recording. */
static __always_inline struct thread *thread_get(struct task_struct *task)
{
	return bpf_task_storage_get(&threads, task, 0, 0);
}
/* Makes it if need be. Not at the scheduler. */
__hidden struct thread *thread_make(struct task_struct *task);

#endif
