/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When something was counted, in a ring of each CPU (prof.h): older entries are written over, and
 * user space sees from their numbers which it has not read. Safe in NMI: who interrupts an entry
 * in the making takes the next one.
 */
#include "moments.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_moment);
} moments SEC(".maps");

/* Entries handed out, per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_word);
} moment_heads SEC(".maps");

extern __u64 prof_sched_end;

__hidden void moments_add(__u32 count, __u64 weight, __u64 ago)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct prof_word *head = bpf_map_lookup_elem(&moment_heads, &cpu);
	struct prof_moment *m;
	__u64 nr, now;

	if (!head)
		return;
	nr = __sync_fetch_and_add(&head->value, 1);
	at = cpu * prof_cfg.moment_slots + (nr & (prof_cfg.moment_slots - 1));
	m = bpf_map_lookup_elem(&moments, &at);
	if (!m)
		return;
	now = prof_sched_end; /* what was open then is accounted for later */
	__sync_lock_test_and_set(&m->nr, 0);
	m->end_ns = (now ? now : bpf_ktime_get_ns()) - ago;
	m->weight = weight;
	m->count = count;
	__sync_lock_test_and_set(&m->nr, nr + 1);
}
