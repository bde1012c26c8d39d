/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which threads are profiled. */
#ifndef BPFPROF_BPF_FILTER_BPF_H
#define BPFPROF_BPF_FILTER_BPF_H

#include "counters.bpf.h"

/*
 * 0 to keep the event of the current thread, else the FILTER counter that names the rule which left
 * it out.
 */
__hidden __u32 filter_current(struct task_struct *task, __u32 pid, __u32 tid,
			      const char comm[PROF_COMM_LEN]);

/* The same of any task, but for --cgroup, and of its cgroup: slowly. */
__hidden __u32 filter_task(struct task_struct *task, __u32 pid, __u32 tid,
			   const char comm[PROF_COMM_LEN]);
__hidden __u32 filter_cgroup(struct task_struct *task);

/* A task is born: it inherits its parent's place in the filter. */
__hidden void filter_birth(struct task_struct *parent, struct task_struct *child);

#endif
