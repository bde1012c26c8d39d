/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks at events that are no samples: where threads leave the CPU, and who calls a function of a
 * program. One count per event and stack.
 */
#include "filter.bpf.h"
#include "kernel.bpf.h"
#include "stacks.bpf.h"
#include <bpf/bpf_tracing.h>

/* Filters the current thread and counts its event. own: scratch has the registers already. */
static __always_inline __u32 count(void *ctx, __u32 id, struct scratch *s, struct task_struct *task,
				   struct prof_count *key, bool own)
{
	__u32 outcome, bad = UNWIND_END_NONE;

	outcome = filter_current(task, key->pid, key->tid, key->comm);
	if (outcome)
		return outcome;
	if (!own && !prof_cfg.no_kstacks && !stacks_kernel(ctx, id, s, &key->kstack))
		return PROF_LOST_STACKS;
	if (!prof_cfg.no_ustacks && stacks_has_user(task)) {
		if (own && STATUS_IS_COMPAT(s->status))
			bad = UNWIND_END_COMPAT;
		else if (!own && !unwind_regs_saved(s, task))
			bad = UNWIND_END_READ;
		if (!stacks_user(id, s, bad, &key->ustack))
			return PROF_LOST_STACKS;
	}
	return arena_count(key, 1) ? PROF_RECORDED : PROF_LOST_COUNTS;
}

/* The current thread leaves its CPU; it is still the current one. */
SEC("?tp_btf/sched_switch")
int events_switch(__u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 id = bpf_get_current_pid_tgid();
	struct prof_count key = { .pid = id >> 32, .tid = (__u32)id };
	struct scratch *s = scratch_get(SCRATCH_SCHED);

	counters_add(PROF_SEEN);
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	counters_add(s ? count(ctx, SCRATCH_SCHED, s, task, &key, false) : PROF_LOST_SCRATCH);
	return 0;
}

/*
 * A program at a probe may be preempted by another thread that runs into one too, so each takes a
 * scratch for itself.
 */
static __always_inline struct scratch *take_scratch(__u32 *id)
{
	struct scratch *s;

	for (__u32 i = 0; i < NR_UPROBE_SCRATCHES; i++) {
		*id = SCRATCH_UPROBE + i;
		s = scratch_get(*id);
		if (s && !__sync_val_compare_and_swap(&s->busy, 0, 1))
			return s;
	}
	return NULL;
}

SEC("?uprobe")
int events_uprobe(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct prof_count key = { .pid = pid_tgid >> 32, .tid = (__u32)pid_tgid };
	__u32 id, outcome = PROF_LOST_SCRATCH;
	struct scratch *s;

	counters_add(PROF_SEEN);
	s = take_scratch(&id);
	if (s) {
		bpf_get_current_comm(key.comm, sizeof(key.comm));
		UNWIND_FROM(s, ctx);
		s->status = REGS_STATUS(ctx);
		outcome = count(ctx, id, s, task, &key, true);
		__sync_lock_test_and_set(&s->busy, 0);
	}
	counters_add(outcome);
	return 0;
}
