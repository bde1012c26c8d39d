/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks at functions of programs: who calls them. One count per call and stack. */
#include "filter.bpf.h"
#include "stacks.bpf.h"

/* Filters the current thread and counts its event; scratch has the registers. */
static __always_inline __u32 count(__u32 id, struct scratch *s, struct task_struct *task,
				   struct prof_count *key)
{
	__u32 outcome = filter_current(task, key->pid, key->tid, key->comm);

	if (outcome)
		return outcome;
	scratch_begin(s);
	if (!prof_cfg.no_ustacks && stacks_has_user(task) &&
	    !stacks_user(id, s, STATUS_IS_COMPAT(s->status) ? UNWIND_END_COMPAT : UNWIND_END_NONE,
			 &key->ustack))
		return PROF_LOST_STACKS;
	s->key = *key;
	return arena_count(id, 1) ? PROF_RECORDED : PROF_LOST_COUNTS;
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
		outcome = count(id, s, task, &key);
		__sync_lock_test_and_set(&s->busy, 0);
	}
	counters_add(outcome);
	return 0;
}
