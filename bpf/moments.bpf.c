/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When something was counted, in a ring of each CPU (prof.h): older entries are written over, and
 * user space sees from their numbers which it has not read. Safe in NMI: who interrupts an entry
 * in the making takes the next one.
 */
#include "moments.bpf.h"

#define UNIT_SHIFT 10 /* ns: 32 bits of them are an hour */
#define UNITS(ns)  ((__u32)((ns) >> UNIT_SHIFT))

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

__hidden void moments_put(__u32 count, __u64 weight, __u64 end)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct prof_word *head = bpf_map_lookup_elem(&moment_heads, &cpu);
	struct prof_moment *m;
	__u64 nr;

	if (!head)
		return;
	nr = __sync_fetch_and_add(&head->value, 1);
	at = cpu * prof_cfg.moment_slots + (nr & (prof_cfg.moment_slots - 1));
	m = bpf_map_lookup_elem(&moments, &at);
	if (!m)
		return;
	__sync_lock_test_and_set(&m->nr, 0);
	m->end_ns = end;
	m->weight = weight;
	m->count = count;
	__sync_lock_test_and_set(&m->nr, nr + 1);
}

__hidden void moments_add(__u32 count, __u64 weight, __u64 ago)
{
	__u64 now = prof_sched_end; /* what was open then is accounted for later */

	moments_put(count, weight, (now ? now : bpf_ktime_get_ns()) - ago);
}

static __always_inline bool is_for_events(__u32 wait)
{
	int nr = PROF_WAIT_SYSCALL(wait);

	return PROF_WAIT_KIND(wait) == PROF_BLOCKED &&
	       (nr == SYSCALL_EPOLL || nr == SYSCALL_EPOLL_P);
}

/* The last wait for events that was not told, whose end is all that matters of it. */
static __always_inline void put_late(struct thread *t, __u64 now)
{
	__u32 ago = UNITS(now) - t->late_at;

	if (t->late)
		moments_put(t->late, 1u << UNIT_SHIFT, now - ((__u64)ago << UNIT_SHIFT));
	t->late = 0;
}

__noinline int moments_wait(struct thread *t, __u32 count, __u32 count_woken, __u64 off,
			    __u64 queued)
{
	__u32 at, since, often = UNITS(prof_cfg.long_wait_ns / 2);
	bool events;
	__u64 now;

	if (!t || !prof_cfg.long_wait_ns)
		return 0;
	now = t->since + off;
	at = UNITS(now);
	since = at - t->told_at;
	events = is_for_events(t->wait);
	if (off < prof_cfg.long_wait_ns && since < often) {
		if (events) {
			t->late = count;
			t->late_at = at;
		}
		return 0;
	}
	/* Those that follow each other at once are one for who reads them. */
	if (!events || since >= 2 * often)
		put_late(t, now);
	t->late = 0;
	t->told_at = at;
	moments_put(count, off - queued, now - queued);
	if (queued)
		moments_put(count_woken, queued, now);
	return 0;
}

__noinline int moments_end(struct thread *t, __u64 end)
{
	if (t && prof_cfg.long_wait_ns)
		put_late(t, end);
	return 0;
}
