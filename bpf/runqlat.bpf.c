/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Histograms that both sides map into their memory: a row per CPU, process or thread. Rows of CPUs
 * and of threads have one writer at a time, so additions there are plain.
 */
#include "runqlat.bpf.h"
#include "arena.bpf.h"
#include "hist.h"

#define RECENT 8 /* threads that had a CPU last: a power of two */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_hist_row);
} hists SEC(".maps");

struct recent {
	struct prof_ran ran[RECENT];
	__u64 until_ns[RECENT];
	__u64 nr;
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct recent);
} recents SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PROF_OUTLIERS);
	__type(key, __u32);
	__type(value, struct prof_outlier);
} outliers SEC(".maps");

__u64 prof_nr_outliers[8] __attribute__((aligned(64)));

/* A row by process or thread. Returns its slot + 1, 0 when the table is full. Verified apart. */
__noinline int hist_claim(__u32 pid, __u32 tid)
{
	__u64 hash = hash_mix(prof_cfg.seed, pid | (__u64)tid << 32);
	struct prof_hist_row *row;
	__u32 slot;
	bool mine;

	if (!prof_cfg.hist_rows || prof_cfg.hist_by == PROF_HIST_BY_CPU)
		return 0;
	hash += !hash;
	row = arena_find(&hists, prof_cfg.hist_rows, hash, &slot, &mine);
	if (!row)
		return 0;
	if (mine) {
		row->pid = pid;
		row->tid = tid;
	}
	return slot;
}

static __always_inline struct prof_hist_row *row_by_thread(struct thread *t)
{
	__u32 tid = prof_cfg.hist_by == PROF_HIST_BY_THREAD ? t->tid : 0, slot;
	struct prof_hist_row *row;
	bool first = !t->row;

	if (first)
		t->row = hist_claim(t->pid, tid);
	slot = t->row - 1;
	row = bpf_map_lookup_elem(&hists, &slot);
	if (row && first && (tid || t->pid == t->tid || !row->comm[0]))
		__builtin_memcpy(row->comm, t->comm, PROF_COMM_LEN);
	return row;
}

static __always_inline struct prof_hist_row *row_of(struct thread *t)
{
	__u32 cpu = bpf_get_smp_processor_id();

	if (prof_cfg.hist_by != PROF_HIST_BY_CPU)
		return row_by_thread(t);
	return bpf_map_lookup_elem(&hists, &cpu);
}

static __always_inline void count(struct prof_hist *h, __u64 ns)
{
	__u32 i = prof_hist_index(ns);

	if (prof_cfg.hist_by == PROF_HIST_BY_PROCESS) {
		__sync_fetch_and_add(&h->count[i], 1);
		__sync_fetch_and_add(&h->sum_ns, ns);
	} else {
		h->count[i]++;
		h->sum_ns += ns;
	}
	if (ns > h->max_ns)
		h->max_ns = ns;
}

static __always_inline struct recent *recent_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&recents, &zero);
}

/* kernel < 6.8: functions are verified even if nothing calls them, and there may be no maps. */
__noinline int hist_ran(const struct thread *t, __u64 ns, __u64 now)
{
	struct recent *r = prof_cfg.outlier_ns ? recent_get() : NULL;
	struct prof_ran *ran;
	__u32 i;

	if (!t || !r)
		return 0;
	i = r->nr++ & (RECENT - 1);
	ran = &r->ran[i];
	ran->pid = t->pid;
	ran->tid = t->tid;
	ran->ns = ns;
	__builtin_memcpy(ran->comm, t->comm, PROF_COMM_LEN);
	r->until_ns[i] = now;
	return 0;
}

/* A ring: user space reads it some times a second, and sees from seq when it was too late. */
static __always_inline void keep(const struct thread *t, __u32 kind, __u64 ns, __u64 now)
{
	__u64 seq = __sync_fetch_and_add(&prof_nr_outliers[0], 1);
	__u32 slot = seq & (PROF_OUTLIERS - 1);
	struct prof_outlier *o = bpf_map_lookup_elem(&outliers, &slot);
	struct recent *r = recent_get();

	if (!o || !r)
		return;
	o->seq = 0;
	o->time_ns = now;
	o->wait_ns = ns;
	o->pid = t->pid;
	o->tid = t->tid;
	o->cpu = bpf_get_smp_processor_id();
	o->kind = kind;
	__builtin_memcpy(o->comm, t->comm, PROF_COMM_LEN);
	for (__u32 k = 0; k < PROF_OUTLIER_RAN; k++) {
		__u32 i = (r->nr - 1 - k) & (RECENT - 1);

		o->ran[k] = r->ran[i];
		if (r->until_ns[i] <= now - ns)
			o->ran[k].ns = 0;
	}
	__sync_lock_test_and_set(&o->seq, seq + 1);
}

__noinline int hist_add(struct thread *t, __u32 born, __u64 ns, __u64 now)
{
	struct prof_hist_row *row;
	__u32 kind;

	if (!t || !prof_cfg.hist_rows)
		return 0;
	row = row_of(t);
	if (!row)
		return 0;
	kind = PROF_WAIT_KIND(t->wait) == PROF_PREEMPTED && !born ? PROF_HIST_PREEMPTED
								  : PROF_HIST_WOKEN;
	count(&row->hist[kind], ns);
	if (prof_cfg.outlier_ns && ns >= prof_cfg.outlier_ns)
		keep(t, kind, ns, now);
	return 1;
}

__noinline int hist_rename(const struct thread *t)
{
	struct prof_hist_row *row;
	__u32 slot;

	if (!t || !prof_cfg.hist_rows || prof_cfg.hist_by == PROF_HIST_BY_CPU || !t->row)
		return 0;
	slot = t->row - 1;
	row = bpf_map_lookup_elem(&hists, &slot);
	if (row && (prof_cfg.hist_by == PROF_HIST_BY_THREAD || t->pid == t->tid))
		__builtin_memcpy(row->comm, t->comm, PROF_COMM_LEN);
	return 0;
}
