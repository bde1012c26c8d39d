/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The contract about counters of the hardware by thread: what stat reads, and who writes it. */
#ifndef BPFPROF_BPF_ACCOUNT_H
#define BPFPROF_BPF_ACCOUNT_H

#include "prof.h"

/* What the counters of a CPU said last, to whoever asks for differences. */
struct prof_event_base {
	struct prof_event_count last[PMU_MAX_EVENTS];
	__u64 known; /* bit i: last[i] holds */
};

/*
 * What the counters of all CPUs counted, by thread (bpf/accounts.bpf.c). A thread runs on one CPU
 * at a time, so each row has one writer, and user space makes processes and cgroups of threads.
 * Claimed by compare-and-swap of hash, 0 = free; user space frees rows of threads that are gone.
 */
#define PROF_ACCOUNT_GONE  1
#define PROF_ACCOUNT_TAKEN 2
struct prof_account {
	__u64 hash; /* of tid and start; with by_cgroup also of the cgroup */
	__u64 switches;
	__u64 running_ns; /* on a CPU whose counters were asked to count */
	__u64 cgroup;	  /* its id, as of the last switch */
	char comm[PROF_COMM_LEN];
	__u32 pid, tid;
	__u64 gone; /* set when it has left its CPU for the last time; taken by user space */
	struct prof_event_count event[PMU_MAX_EVENTS];
	__u64 process; /* of pid and its start: tells who had the number one after the other */
	__u32 parent;  /* process that made it, if we saw that */
	__u32 pad;
	__u64 pads[6];
};
_Static_assert(sizeof(struct prof_account) == 320, "struct prof_account is part of the contract");

/* Of a CPU, written only there. What its counters counted is in some row, in idle or in lost. */
struct prof_account_cpu {
	struct prof_event_base base;
	__u32 counters; /* set by user space: it has some */
	__u32 next;	/* thread that the last switch gave the CPU to, + 1; 0 = none seen */
	__u64 unseen;	/* switches from threads that no switch was seen to: some were hidden */
	__u64 unread;	/* counters that could not be read */
	__u64 gone;	/* threads that are */
	__u64 pad[3];
	struct prof_account idle;
	struct prof_account lost; /* of threads that found no row */
};
_Static_assert(sizeof(struct prof_account_cpu) == 896, "whole cache lines");

/* Frozen before load. */
struct prof_account_config {
	__u64 seed;
	__u32 rows; /* a power of two */
	__u8 nr_events;
	__u8 by_cgroup; /* a thread that moves to another cgroup gets another row */
	__u8 pad[2];
};
_Static_assert(sizeof(struct prof_account_config) == 16, "part of the contract");

#endif
