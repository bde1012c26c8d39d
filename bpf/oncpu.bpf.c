/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * On-CPU sampling: one run per overflow of a perf event. Takes the stacks of whatever runs, adds
 * one to its count. Runs in interrupt or NMI context, so: no allocation, no lock, no unbounded
 * loop; what it cannot record it counts.
 */
#include "branch_table.bpf.h"
#include "columns.bpf.h"
#include "comm.bpf.h"
#include "faults.bpf.h"
#include "filter.bpf.h"
#include "polls.bpf.h"
#include "stacks.bpf.h"

/* The registers of the innermost user frame. False: there are none that we can walk from. */
static __always_inline bool user_regs(struct bpf_perf_event_data *ctx, struct scratch *s,
				      struct task_struct *task, bool in_user)
{
	if (!in_user)
		return unwind_regs_saved(s, task);
	UNWIND_FROM(s, &ctx->regs);
	return !STATUS_IS_COMPAT(REGS_STATUS(&ctx->regs));
}

/* Interns the thread's user stack; one that cannot be walked is empty. False: lost. */
static __always_inline bool take_user(struct bpf_perf_event_data *ctx, struct scratch *s,
				      struct task_struct *task, bool in_user, __u32 *slot)
{
	__u32 bad = UNWIND_END_NONE;

	if (!stacks_has_user(task))
		return true;
	if (!user_regs(ctx, s, task, in_user))
		bad = in_user ? UNWIND_END_COMPAT : UNWIND_END_READ;
	return stacks_user(SCRATCH_PERF, s, bad, slot);
}

/* Why it is not recorded, or PROF_RECORDED; 0: that is known when the poll ends. */
static __always_inline __u32 record(struct bpf_perf_event_data *ctx, struct task_struct *task,
				    struct prof_count *key)
{
	__u64 weight = ctx->sample_period << (*(volatile __u32 *)&prof_thin.samples & 31);
	bool in_user = STATUS_IS_USER(REGS_STATUS(&ctx->regs));
	struct scratch *s = scratch_get(SCRATCH_PERF);
	__u32 count;

	if (!s)
		return PROF_LOST_SCRATCH;
	scratch_begin(s);
	if (!in_user && !prof_cfg.no_kstacks &&
	    !stacks_kernel_sampled(ctx, SCRATCH_PERF, s, &key->kstack))
		return PROF_LOST_STACKS;
	if (!prof_cfg.no_ustacks && !take_user(ctx, s, task, in_user, &key->ustack))
		return PROF_LOST_STACKS;
	s->key = *key;
	count = arena_claim(SCRATCH_PERF);
	if (!count)
		return PROF_LOST_COUNTS;
	if (prof_cfg.slow_poll_ns)
		return polls_sample(polls_of(task), count, weight);
	arena_add(count, weight);
	if (prof_cfg.nr_values)
		columns_add(count);
	if (prof_cfg.branch_slots)
		branches_take(ctx, SCRATCH_PERF);
	return PROF_RECORDED;
}

static __always_inline __u32 note_fault(__u64 address, struct prof_count *key)
{
	__u32 memory = faults_memory(address);

	key->wait = PROF_WAIT_OF_FAULT(PROF_WAIT_EVENT(key->wait), memory);
	return prof_cfg.grows && memory == PROF_MEMORY_FILE ? PROF_FILTER_FILE : 0;
}

SEC("?perf_event")
int oncpu_sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct prof_counters *row = counters_row();
	struct prof_count key = { .pid = task->tgid, .tid = task->pid };
	__u32 outcome;
	__u64 start;

	if (prof_cfg.running)
		key.wait = PROF_WAIT(PROF_ON_CPU, 0, -1);
	if (prof_cfg.events)
		key.wait = bpf_get_attach_cookie(ctx);
	if (!row)
		return 0;
	start = run_begins(row);
	row->value[PROF_SEEN]++;
	if (prof_cfg.nr_values)
		columns_read();
	comm_copy(key.comm, task->comm);
	outcome = filter_current(task, key.pid, key.tid, key.comm);
	if (!outcome && prof_cfg.faults)
		outcome = note_fault(ctx->addr, &key);
	if (!outcome && prof_cfg.slow_poll_ns && !polls_goes_on(polls_of(task)))
		outcome = PROF_FILTER_POLL;
	if (!outcome)
		outcome = record(ctx, task, &key);
	if (outcome || !prof_cfg.slow_poll_ns)
		row->value[outcome % PROF_COUNTER_SLOTS]++;
	run_ends(row, start);
	return 0;
}
