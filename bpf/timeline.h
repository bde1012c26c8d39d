/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract of timelines: what the scheduler did, an event at a time, in a ring for each CPU.
 * The newest event takes the place of the oldest. Events reach saved files.
 */
#ifndef BPFPROF_BPF_TIMELINE_H
#define BPFPROF_BPF_TIMELINE_H

#include "prof.h"

enum timeline_kind {
	TIMELINE_SWITCH = 1, /* a CPU goes from the first thread to the second */
	TIMELINE_WAKING = 2, /* the first is woken by the second */
	TIMELINE_BORN = 3,   /* the first is new and runnable, made by the second */
	TIMELINE_NR_KINDS
};

/* Which of both threads are selected, and which run no code of a program. */
#define TIMELINE_FIRST	       1
#define TIMELINE_SECOND	       2
#define TIMELINE_FIRST_KERNEL  4
#define TIMELINE_SECOND_KERNEL 8

struct timeline_event {
	__u64 time_ns;	  /* CLOCK_MONOTONIC */
	__u32 pid, tid;	  /* the first thread; tid 0 = the CPU was idle */
	__u32 pid2, tid2; /* the second */
	__u32 wait;	  /* of the first: prof_count.wait */
	__u16 cpu;	  /* that it happened on */
	__u8 kind, flags; /* enum timeline_kind; TIMELINE_* */
	char comm[PROF_COMM_LEN], comm2[PROF_COMM_LEN]; /* may have no 0 behind them */
};
_Static_assert(sizeof(struct timeline_event) == 64, "struct timeline_event is one cache line");

/* Frozen before load. */
struct timeline_config {
	__u64 last_ns;	  /* how old an event is that may be overwritten; all ones: none may */
	__u64 outlier_ns; /* a wait for a CPU of this length trips it; 0 = none does */
	__u32 slots;	  /* events for each CPU, a power of two */
	__u8 others;	  /* threads that are not selected are kept too */
	__u8 pad[3];
};
_Static_assert(sizeof(struct timeline_config) == 24, "part of the contract");

#endif
