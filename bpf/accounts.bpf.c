/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters per thread for the price of counters per CPU: whoever leaves a CPU gets what the CPU's
 * counters have counted since the last switch there. Nothing is opened per thread, and no thread is
 * left out; who is asked for is decided in user space.
 *
 *	counter of the CPU   ──┬────────────┬───────┬──────────────────┬──►
 *	                       A leaves     B       idle               A again
 *	goes to                A's row      B's     the CPU's own      A's
 *
 * So the rows, idle and lost add up to what was counted, by construction. sched_switch runs with
 * interrupts off, and so does the flush on another CPU than that of who asks; on that one it runs
 * with preemption off, so a switch cannot come between either.
 */
#include "arena.bpf.h"
#include "kernel.bpf.h"
#include "pmu.bpf.h"
#include <bpf/bpf_tracing.h>
#include <linux/errno.h>

#define MAX_PROBES 16

const volatile struct prof_account_config account_cfg = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_account);
} accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_account_cpu);
} account_cpus SEC(".maps");

static __always_inline __u32 place(__u64 hash, __u32 i)
{
	return (hash + i * (hash >> 40 | 1)) & (account_cfg.rows - 1);
}

/*
 * The slot + 1 of a hash, 0 when there is no room. One thread is in one place, so nobody else asks
 * for the same hash meanwhile; but rows become free in front of others, so all places are looked at
 * before one is claimed. Verified apart.
 */
__noinline int accounts_slot(__u64 hash)
{
	for (__u32 i = 0; i < MAX_PROBES; i++) {
		__u32 slot = place(hash, i);
		struct prof_account *row = bpf_map_lookup_elem(&accounts, &slot);

		if (row && *(volatile __u64 *)&row->hash == hash)
			return slot + 1;
	}
	for (__u32 i = 0; i < MAX_PROBES; i++) {
		__u32 slot = place(hash, i);
		struct prof_account *row = bpf_map_lookup_elem(&accounts, &slot);

		if (row && !*(volatile __u64 *)&row->hash &&
		    !__sync_val_compare_and_swap(&row->hash, 0, hash))
			return slot + 1;
	}
	return 0;
}

static __always_inline __u64 cgroup_of(const struct task_struct *task)
{
	return task->cgroups->dfl_cgrp->kn->id;
}

static __always_inline __u64 hash_of(__u32 pid, __u64 start)
{
	__u64 hash = hash_mix(hash_mix(account_cfg.seed, pid), start);

	return hash + !hash;
}

/* What a thread does not keep all its life. */
static __always_inline void refresh(struct prof_account *row, const struct task_struct *task,
				    __u64 cgroup)
{
	const __u64 *comm = (const __u64 *)task->comm;

	((__u64 *)row->comm)[0] = comm[0];
	((__u64 *)row->comm)[1] = comm[1];
	row->cgroup = cgroup;
}

static __always_inline struct prof_account *row_of(const struct task_struct *task, __u32 parent)
{
	__u64 cgroup = cgroup_of(task), hash;
	struct prof_account *row;
	__u32 slot;

	hash = hash_of(task->pid, task->start_time ^ (account_cfg.by_cgroup ? cgroup << 40 : 0));
	slot = accounts_slot(hash) - 1;
	row = bpf_map_lookup_elem(&accounts, &slot);
	if (!row)
		return NULL;
	/*
	 * A thread that calls exec becomes the first one of its process, whose row it finds. If
	 * user space is about to free that, the thread has none for once.
	 */
	if (*(volatile __u64 *)&row->gone &&
	    __sync_val_compare_and_swap(&row->gone, PROF_ACCOUNT_GONE, 0) != PROF_ACCOUNT_GONE)
		return NULL;
	if (!row->pid) { /* it was claimed just now */
		row->pid = task->tgid;
		row->tid = task->pid;
		row->process = hash_of(task->tgid, task->group_leader->start_time);
		row->parent = parent;
	}
	refresh(row, task, cgroup);
	return row;
}

/* Gives row what the counters have counted here since the last time. */
static __always_inline void add(struct prof_account *row, struct prof_account_cpu *c, __u32 cpu)
{
	struct prof_event_count delta;
	__u64 ns = 0;
	long err;

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < PMU_MAX_EVENTS; i++) {
		if (i >= account_cfg.nr_events)
			break;
		err = pmu_delta(&c->base, cpu, i, &delta);
		row->event[i].value += delta.value;
		row->event[i].enabled_ns += delta.enabled_ns;
		row->event[i].running_ns += delta.running_ns;
		if (!ns) /* each has its own look at the clock: one is enough */
			ns = delta.enabled_ns;
		if (err && err != -ENOENT)
			c->unread++;
	}
	row->running_ns += ns;
}

/* The row that what this CPU counts now belongs to. */
static __always_inline struct prof_account *row_here(struct prof_account_cpu *c,
						     const struct task_struct *task)
{
	struct prof_account *row = &c->idle;

	if (task->pid)
		row = row_of(task, 0);
	return row ? row : &c->lost;
}

/* ctx: whether it was preempted, the thread that leaves the CPU, and the one that gets it. */
SEC("?tp_btf/sched_switch")
int accounts_switch(__u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_account_cpu *c = bpf_map_lookup_elem(&account_cpus, &cpu);
	bool dead = kernel_prev_state(ctx) & TASK_DEAD;
	struct prof_account *row;

	/* Rows of those who are gone become free, on whatever CPU they end. */
	if (!c || !(c->counters || dead))
		return 0;
	if (c->next && c->next != prev->pid + 1)
		c->unseen++;
	c->next = next->pid + 1;
	row = row_here(c, prev);
	if (c->counters) {
		add(row, c, cpu);
		row->switches++;
	}
	if (dead && prev->pid) {
		c->gone++;
		/* Nothing that was written above may come after. */
		__sync_lock_test_and_set(&row->gone, PROF_ACCOUNT_GONE);
	}
	return 0;
}

/*
 * Run by user space on each CPU: gives the thread that runs there what it has used so far. It also
 * makes counters that are new begin.
 */
SEC("?raw_tp")
int accounts_flush(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct prof_account_cpu *c = bpf_map_lookup_elem(&account_cpus, &cpu);

	if (c && c->counters)
		add(row_here(c, bpf_get_current_task_btf()), c, cpu);
	return 0;
}

/*
 * Who made a process is known for certain only now: a parent may be gone before its child leaves
 * the CPU for the first time.
 */
SEC("?tp_btf/task_newtask")
int BPF_PROG(accounts_fork, struct task_struct *child)
{
	struct task_struct *parent = bpf_get_current_task_btf();

	if (child->pid) /* of a CPU that comes online the idle thread is made */
		row_of(child, child->tgid == parent->tgid ? 0 : parent->tgid);
	return 0;
}
