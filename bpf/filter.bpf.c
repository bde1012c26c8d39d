/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filters. Processes and threads are bitmaps indexed by PID: one inlined look-up whatever the
 * length of -p, no lock, no limit. A new task's bit is written when it is born (inherited, or
 * cleared), before it can run, so bits of dead tasks never matter and nothing has to be done when
 * one exits.
 */
#include "filter.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#define BITMAP_WORDS (PROF_PID_LIMIT / 64)

struct bitmap {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BITMAP_WORDS);
	__type(key, __u32);
	__type(value, __u64);
};
struct bitmap pids SEC(".maps");
struct bitmap tids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_glob);
} globs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} cgroups SEC(".maps");

static __always_inline bool has_bit(void *map, __u32 id)
{
	__u32 word = id / 64;
	__u64 *bits = bpf_map_lookup_elem(map, &word);

	return bits && (*bits >> (id & 63) & 1);
}

static __always_inline void put_bit(void *map, __u32 id, bool on)
{
	__u32 word = id / 64;
	__u64 *bits = bpf_map_lookup_elem(map, &word), bit = 1ull << (id & 63);

	if (!bits)
		return;
	if (on)
		__sync_fetch_and_or(bits, bit);
	else
		__sync_fetch_and_and(bits, ~bit);
}

/* Runs the name through the automaton; the byte 0 behind it ends the match. */
static bool comm_matches(const char *comm)
{
	__u32 zero = 0;
	struct prof_glob *g = bpf_map_lookup_elem(&globs, &zero);
	__u64 live;

	if (!g)
		return false;
	live = g->start;
	for (int i = 0; i < PROF_COMM_LEN; i++) {
		__u8 c = comm[i];

		if (!c)
			break;
		live = ((live & g->step[c]) << 1) | (live & g->star);
		live |= (live & g->star) << 1;
	}
	return live & g->accept;
}

/* Inlined below: samples come here. */
static __always_inline __u32 outcome_of(struct task_struct *task, __u32 pid, __u32 tid,
					const char comm[PROF_COMM_LEN])
{
	if (!tid && !prof_cfg.keep_idle)
		return PROF_FILTER_IDLE;
	if (pid == prof_cfg.own_pid)
		return PROF_FILTER_SELF;
	if (prof_cfg.filter_pid && !has_bit(&pids, pid))
		return PROF_FILTER_PID;
	if (prof_cfg.filter_tid && !has_bit(&tids, tid))
		return PROF_FILTER_TID;
	if (prof_cfg.no_kthreads && (task->flags & PF_KTHREAD))
		return PROF_FILTER_KTHREAD;
	if (prof_cfg.no_uthreads && !(task->flags & PF_KTHREAD))
		return PROF_FILTER_UTHREAD;
	if (prof_cfg.filter_comm && !comm_matches(comm))
		return PROF_FILTER_COMM;
	return 0;
}

__hidden __u32 filter_task(struct task_struct *task, __u32 pid, __u32 tid,
			   const char comm[PROF_COMM_LEN])
{
	return outcome_of(task, pid, tid, comm);
}

__hidden __u32 filter_current(struct task_struct *task, __u32 pid, __u32 tid,
			      const char comm[PROF_COMM_LEN])
{
	__u32 outcome = outcome_of(task, pid, tid, comm);

	if (!outcome && prof_cfg.filter_cgroup && bpf_current_task_under_cgroup(&cgroups, 0) != 1)
		return PROF_FILTER_CGROUP;
	return outcome;
}

#define MAX_CGROUP_DEPTH 32

__hidden __u32 filter_cgroup(struct task_struct *task)
{
	struct cgroup *at;

	if (!prof_cfg.filter_cgroup)
		return 0;
	at = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	for (int i = 0; i < MAX_CGROUP_DEPTH && at; i++) {
		if (BPF_CORE_READ(at, kn, id) == prof_cfg.cgroup_id)
			return 0;
		at = (struct cgroup *)BPF_CORE_READ(at, self.parent); /* self is its beginning */
	}
	return PROF_FILTER_CGROUP;
}

static __always_inline void birth(struct task_struct *parent, struct task_struct *child)
{
	bool inherit = !prof_cfg.no_children;

	if (prof_cfg.filter_pid && child->pid == child->tgid)
		put_bit(&pids, child->pid, inherit && has_bit(&pids, parent->tgid));
	if (prof_cfg.filter_tid)
		put_bit(&tids, child->pid, inherit && has_bit(&tids, parent->pid));
}

__hidden void filter_birth(struct task_struct *parent, struct task_struct *child)
{
	birth(parent, child);
}

/*
 * Runs before the child can. sched_process_fork does not tell of workers that the kernel makes of a
 * program's threads (io_uring).
 */
SEC("?tp_btf/task_newtask")
int BPF_PROG(filter_fork, struct task_struct *child)
{
	birth(bpf_get_current_task_btf(), child);
	return 0;
}
