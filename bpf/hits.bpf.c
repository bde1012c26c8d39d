/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sampling of tracepoints: the kernel runs no program at the overflow of such an event, only at
 * each hit, on all CPUs. So hits are counted here, and one in so many, on each CPU, is a sample.
 *
 * A CPU runs one program of this kind or of perf events at a time, so they share a scratch.
 */
#include "columns.bpf.h"
#include "comm.bpf.h"
#include "filter.bpf.h"
#include "stacks.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PROF_MAX_EVENTS);
	__type(key, __u32);
	__type(value, __u64);
} hits SEC(".maps");

__u64 prof_hits_cpus_out[PROF_HITS_CPUS / 64];

static __always_inline bool is_left_out(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return cpu < PROF_HITS_CPUS && prof_hits_cpus_out[cpu / 64] >> (cpu & 63) & 1;
}

static __always_inline bool is_due(__u64 cookie)
{
	__u32 event = PROF_WAIT_EVENT((__u32)cookie);
	__u64 *nr = bpf_map_lookup_elem(&hits, &event);

	if (!nr || ++*nr < PROF_HITS_PERIOD(cookie))
		return false;
	*nr = 0;
	return true;
}

static __always_inline __u32 record(void *ctx, struct task_struct *task, struct prof_count *key,
				    __u64 weight)
{
	struct scratch *s = scratch_get(SCRATCH_PERF);
	__u32 bad = UNWIND_END_NONE, count;

	if (!s)
		return PROF_LOST_SCRATCH;
	scratch_begin(s);
	if (!prof_cfg.no_kstacks && !stacks_kernel(ctx, SCRATCH_PERF, s, &key->kstack))
		return PROF_LOST_STACKS;
	if (!prof_cfg.no_ustacks && stacks_has_user(task)) {
		if (!unwind_regs_saved(s, task))
			bad = UNWIND_END_READ;
		if (!stacks_user(SCRATCH_PERF, s, bad, &key->ustack))
			return PROF_LOST_STACKS;
	}
	s->key = *key;
	count = arena_claim(SCRATCH_PERF);
	if (!count)
		return PROF_LOST_COUNTS;
	arena_add(count, weight);
	if (prof_cfg.nr_values)
		columns_add(count);
	return PROF_RECORDED;
}

SEC("?tp")
int hits_sample(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 cookie = bpf_get_attach_cookie(ctx), start;
	struct prof_count key = { .pid = task->tgid, .tid = task->pid, .wait = (__u32)cookie };
	struct prof_counters *row;
	__u32 outcome;

	if (is_left_out() || !is_due(cookie))
		return 0;
	row = counters_row();
	if (!row)
		return 0;
	start = run_begins(row);
	row->value[PROF_SEEN]++;
	if (prof_cfg.nr_values)
		columns_read();
	comm_copy(key.comm, task->comm);
	outcome = filter_current(task, key.pid, key.tid, key.comm);
	if (!outcome)
		outcome = record(ctx, task, &key, PROF_HITS_PERIOD(cookie));
	row->value[outcome % PROF_COUNTER_SLOTS]++;
	run_ends(row, start);
	return 0;
}
