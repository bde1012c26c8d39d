/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of polls that are not over. Only their own thread, and what interrupts it, changes them;
 * but where the scheduler does, the thread is on no CPU or about to leave it.
 *
 * kernel < 6.8: functions are verified even if nothing calls them, and the maps may not be there.
 */
#include "polls.bpf.h"
#include "call_rows.bpf.h"
#include "claim.bpf.h"
#include "waits.bpf.h"

/* Made when a thread first polls a task, as its open calls are. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct poll);
} polls SEC(".maps");

__hidden struct poll *polls_of(struct task_struct *task)
{
	struct poll *p;

	if (!prof_cfg.slow_poll_ns)
		return NULL;
	p = bpf_task_storage_get(&polls, task, 0, 0);
	return p && p->start ? p : NULL;
}

static __always_inline bool take(struct poll *p)
{
	if (*(volatile __u32 *)&p->busy)
		return false;
	*(volatile __u32 *)&p->busy = 1;
	barrier();
	return true;
}

static __always_inline void give(struct poll *p)
{
	barrier();
	*(volatile __u32 *)&p->busy = 0;
}

/* To one that was taken. 0: there is no room. Separately verified. */
__noinline int polls_add(struct poll *p, __u32 count, __u64 ns)
{
	struct poll_part *part;

	if (!p || !prof_cfg.slow_poll_ns)
		return 0;
	for (__u32 i = 0; i < POLL_PARTS; i++) {
		part = &p->v[i];
		if (i >= p->nr) {
			part->count = count;
			part->nr = 0;
			part->ns = 0;
			p->nr = i + 1;
		}
		if (part->count == count) {
			part->nr++;
			part->ns += ns;
			return 1;
		}
	}
	if (!polls_is_slow(p, bpf_ktime_get_ns()))
		return 0;
	arena_add_many(count, 1, ns); /* it is known already that it is slow */
	return 1;
}

/* It is over. Separately verified. */
__noinline int polls_close(struct poll *p, __u32 slow)
{
	if (!p || !prof_cfg.slow_poll_ns)
		return 0;
	p->start = 0;
	*(volatile __u32 *)&p->busy = 1;
	barrier();
	for (__u32 i = 0; slow && i < POLL_PARTS && i < p->nr; i++)
		arena_add_many(p->v[i].count, p->v[i].nr, p->v[i].ns);
	if (slow) {
		counters_add_n(PROF_RECORDED, p->samples); /* waits by their counts */
		counters_add_n(PROF_LOST_POLL, p->lost);
		counters_add_n(PROF_LOST_NS, p->lost_ns);
	} else if (p->nr) {
		counters_add_n(PROF_FILTER_POLL, p->samples + p->waits + p->lost);
		counters_add_n(PROF_FILTER_NS, p->waits_ns + p->lost_ns);
	}
	p->nr = p->waits = p->samples = p->lost = 0;
	p->waits_ns = p->lost_ns = 0;
	give(p);
	return 0;
}

__hidden bool polls_begin(__u32 event, __u32 values, __u64 now)
{
	struct poll *p;

	if (!prof_cfg.slow_poll_ns)
		return false;
	if (polls_are_over())
		return true;
	p = bpf_task_storage_get(&polls, bpf_get_current_task_btf(), 0,
				 BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!p)
		return false;
	if (p->start) /* nobody saw it return */
		polls_close(p, 0);
	p->event = event;
	p->values = values;
	*(volatile __u64 *)&p->start = now;
	return true;
}

/* A row of the table of slow polls. Separately verified. */
__noinline int polls_row(__u32 event, __u32 values, __u64 ns)
{
	if (!prof_cfg.slow_poll_ns || calls_hist(event, values, ns) || calls_hist(event, 0, ns))
		return 0;
	counters_add(PROF_SEEN);
	counters_add(PROF_LOST_ROWS);
	return 0;
}

__noinline int polls_cut(struct poll *p, __u64 now)
{
	__u32 slow;

	if (!p || !prof_cfg.slow_poll_ns)
		return 0;
	slow = polls_is_slow(p, now);
	if (slow) {
		counters_add(PROF_POLLS_OPEN);
		counters_add_n(PROF_POLLS_NS, now - p->start);
		polls_row(p->event, p->values, now - p->start);
	}
	polls_close(p, slow);
	return 0;
}

/* The current thread has run since it got its CPU. */
static __always_inline void ran_until(struct poll *p, __u64 now)
{
	struct thread *t = thread_get(bpf_get_current_task_btf());
	struct scratch *s;
	__u32 id;

	if (!t || t->outcome || t->state != THREAD_RUNS)
		return;
	s = take_scratch(&id);
	if (!s)
		return;
	polls_ran(id, p, t, now);
	give_scratch(s);
}

__noinline int polls_ends(struct open_call *call, __u32 outer, __u64 now)
{
	struct poll *p;
	__u32 slow;

	if (!call || polls_are_over())
		return 0;
	if (now - call->start >= prof_cfg.slow_poll_ns)
		polls_row(call->event, call->values, now - call->start);
	p = outer ? polls_of(bpf_get_current_task_btf()) : NULL;
	if (!p)
		return 0;
	slow = polls_is_slow(p, now);
	if (slow) {
		ran_until(p, now);
		counters_add_n(PROF_POLLS_NS, now - p->start);
	}
	polls_close(p, slow);
	return 0;
}

__noinline int polls_wait(struct poll *p, struct thread *t, __u64 off, __u64 queued)
{
	bool fits, apart;

	if (!t || !prof_cfg.slow_poll_ns)
		return 0;
	if (!p || !t->count || !take(p)) {
		counters_add(!p ? PROF_FILTER_POLL : !t->count ? PROF_LOST_COUNTS : PROF_LOST_POLL);
		counters_add_n(p ? PROF_LOST_NS : PROF_FILTER_NS, off);
		return 0;
	}
	apart = PROF_WAIT_KIND(t->wait) != PROF_PREEMPTED && t->count_woken;
	fits = polls_add(p, t->count, apart ? off - queued : off);
	if (fits) {
		p->waits++;
		p->waits_ns += off;
	} else {
		p->lost++;
		p->lost_ns += off;
	}
	if (fits && apart && !polls_add(p, t->count_woken, queued))
		p->lost_ns += queued;
	give(p);
	return 0;
}

__noinline int polls_ran(__u32 id, struct poll *p, struct thread *t, __u64 now)
{
	__u64 since;
	__u32 count;

	if (!p || !t || !prof_cfg.slow_poll_ns)
		return 0;
	since = t->since > p->start ? t->since : p->start;
	count = wait_run_count(id, t);
	if (!count || now < since || !take(p))
		return 0;
	if (!polls_add(p, count, now - since))
		p->lost_ns += now - since;
	give(p);
	return 0;
}

__noinline int polls_sample(struct poll *p, __u32 count, __u64 weight)
{
	if (!p || !prof_cfg.slow_poll_ns)
		return PROF_FILTER_POLL;
	if (!take(p))
		return PROF_LOST_POLL;
	if (polls_add(p, count, weight))
		p->samples++;
	else
		p->lost++;
	give(p);
	return 0;
}
