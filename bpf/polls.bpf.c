/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of polls that are not over. Only their own thread, and what interrupts it, changes them;
 * where the scheduler does, the thread is on no CPU or about to leave it, also in the middle of a
 * program here: so a poll has an end before its parts are counted (struct poll).
 *
 * kernel < 6.8: functions are verified even if nothing calls them, and the maps may not be there.
 */
#include "polls.bpf.h"
#include "call_rows.bpf.h"
#include "claim.bpf.h"
#include "outcome.bpf.h"
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

/*
 * To one that was taken. 0: there is no room, ADDED: nor was there, but since it is known already
 * that it is slow, it is counted. Separately verified.
 */
#define ADDED 2
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
	arena_add_many(count, 1, ns);
	return ADDED;
}

static __always_inline void lose(__u32 outcome, __u64 ns)
{
	counters_add(PROF_SEEN);
	counters_add(outcome);
	counters_add_n(PROF_LOST_NS, ns);
}

/*
 * Counts what is known of one that took ns. The rest is of switches that the kernel did not
 * report. run: the count of its thread that runs. Separately verified.
 */
__noinline int polls_count(struct poll *p, __u32 run, __u64 ns)
{
	__u64 known;

	if (!p || !prof_cfg.slow_poll_ns)
		return 0;
	for (__u32 i = 0; i < POLL_PARTS && i < p->nr; i++)
		arena_add_many(p->v[i].count, p->v[i].nr, p->v[i].ns);
	if (run)
		arena_add_many(run, 1, p->run_ns);
	else if (p->run_ns)
		lose(PROF_LOST_COUNTS, p->run_ns);
	known = p->run_ns + p->waits_ns + p->lost_ns + p->dropped_ns;
	if (known < ns)
		lose(PROF_LOST_UNSEEN, ns - known);
	counters_add_n(PROF_POLLS_NS, ns);
	counters_add_n(PROF_RECORDED, p->samples); /* waits by their counts */
	counters_add_n(PROF_LOST_POLL, p->lost);
	counters_add_n(PROF_LOST_NS, p->lost_ns);
	return 0;
}

/* It is over: what is known of it was counted, or is filtered. Separately verified. */
__noinline int polls_close(struct poll *p, __u32 slow)
{
	if (!p || !prof_cfg.slow_poll_ns)
		return 0;
	*(volatile __u64 *)&p->start = 0;
	barrier();
	if (!slow && (p->nr || p->lost_ns)) {
		counters_add_n(PROF_FILTER_POLL, p->samples + p->waits + p->lost);
		counters_add_n(PROF_FILTER_NS, p->waits_ns - p->added_ns + p->lost_ns);
	}
	if (!slow && p->dropped_ns) { /* nobody wanted them */
		counters_add_n(PROF_FILTER_NS, p->dropped_ns);
		counters_add_n(PROF_LOST_NS, -p->dropped_ns);
	}
	p->nr = p->waits = p->samples = p->lost = 0;
	p->run_ns = p->waits_ns = p->lost_ns = p->dropped_ns = 0;
	p->added_ns = p->sampled_ns = 0;
	return 0;
}

static __always_inline __u32 run_count(struct thread *t)
{
	struct scratch *s;
	__u32 count = t->count_run, id;

	if (count)
		return count;
	s = take_scratch(&id);
	if (!s)
		return 0;
	count = wait_run_count(id, t);
	give_scratch(s);
	return count;
}

/*
 * Nobody saw it return, so when is not known, and it is left out; but for what was counted since it
 * was slow. Separately verified.
 */
__noinline int polls_leave(struct poll *p)
{
	struct thread *t;
	__u32 run;

	/* kernel < 6.8: functions are verified even if nothing calls them; maps may lack. */
	if (!p || !prof_cfg.slow_poll_ns)
		return 0;
	*(volatile __u64 *)&p->end = 1;
	barrier();
	t = thread_get(bpf_get_current_task_btf());
	run = p->sampled_ns && t ? run_count(t) : 0;
	if (run)
		arena_add_many(run, 1, p->sampled_ns);
	counters_add_n(PROF_POLLS_NS, p->added_ns + p->sampled_ns);
	return polls_close(p, 0);
}

__hidden bool polls_begin(struct open_call *call)
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
	if (p->start)
		polls_leave(p);
	p->event = call->event;
	p->values = call->values;
	p->end = p->since = 0;
	barrier();
	*(volatile __u64 *)&p->start = bpf_ktime_get_ns();
	call->start = p->start;
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

__noinline int polls_cut(__u32 id, struct poll *p, struct thread *t, __u64 now)
{
	__u32 slow;

	if (!p || !t || !prof_cfg.slow_poll_ns)
		return 0;
	slow = polls_is_slow(p, now);
	if (slow) {
		counters_add(PROF_POLLS_OPEN);
		polls_count(p, p->run_ns ? wait_run_count(id, t) : 0, now - p->start);
		polls_row(p->event, p->values, now - p->start);
	}
	polls_close(p, slow);
	return 0;
}

/* A part of a wait, of one that was taken. How, as polls_add() does. */
static __always_inline int add_time(struct poll *p, __u32 count, __u64 ns)
{
	int how = polls_add(p, count, ns);

	if (how)
		p->waits_ns += ns;
	else
		p->lost_ns += ns;
	if (how == ADDED)
		p->added_ns += ns;
	return how;
}

static __always_inline void add_wait(struct poll *p, struct thread *t, __u64 off, __u64 queued)
{
	bool apart = PROF_WAIT_KIND(t->wait) != PROF_PREEMPTED && t->count_woken;
	int how = add_time(p, t->count, apart ? off - queued : off);

	p->waits += how && how != ADDED;
	p->lost += !how;
	if (apart)
		add_time(p, t->count_woken, queued);
}

/*
 * The current thread waits since some time in its poll, as far as we were told. But it runs: since
 * when is known by the kernel's count of its time, which is as of the last tick.
 */
static __always_inline void make_up(struct poll *p, struct thread *t, __u64 now)
{
	__u64 all = now - t->since;
	__u64 ran = bpf_get_current_task_btf()->se.sum_exec_runtime - t->ran;

	if (ran > all)
		ran = all;
	counters_add(PROF_MADE_UP);
	counters_add(PROF_SEEN);
	if (t->skip)
		counters_add(t->skip);
	else if (!t->count)
		counters_add(PROF_LOST_COUNTS);
	if (t->skip || !t->count) {
		p->lost_ns += all - ran;
	} else if (take(p)) {
		add_wait(p, t, all - ran, 0);
		give(p);
	}
	t->state = THREAD_RUNS;
	t->since = now - ran;
}

/*
 * The current thread has run until the end of its poll: since it got its CPU, or since the poll
 * began. If it was preempted before we could say that this is the end, the end is when it went on.
 */
static __always_inline void ran_until_end(struct poll *p, struct thread *t)
{
	__u64 since;

	if (t->outcome)
		return;
	if (t->state == THREAD_WAITS && !p->since && !polls_waits_before(p, t))
		make_up(p, t, p->end);
	since = *(volatile __u64 *)&t->since;
	barrier();
	if (*(volatile __u64 *)&p->since)
		since = p->since;
	if ((__s64)(since - p->start) < 0)
		since = p->start;
	if ((__s64)(since - p->end) > 0)
		p->end = since;
	p->run_ns += p->end - since;
}

/* A poll that is in no other one returns, and is slow. How long it took. Separately verified. */
__noinline __u64 polls_end_slow(struct poll *p, __u64 now)
{
	struct thread *t;
	__u64 ns;

	if (!p || !prof_cfg.slow_poll_ns)
		return 0;
	*(volatile __u64 *)&p->end = now;
	barrier();
	t = thread_get(bpf_get_current_task_btf());
	if (t)
		ran_until_end(p, t);
	ns = p->end - p->start;
	polls_count(p, t ? run_count(t) : 0, ns);
	polls_close(p, 1);
	return ns;
}

__noinline int polls_ends(struct open_call *call, __u32 outer, __u64 now)
{
	struct poll *p;
	__u64 ns;

	if (!call || !prof_cfg.slow_poll_ns || polls_are_over())
		return 0;
	p = outer ? polls_of(bpf_get_current_task_btf()) : NULL;
	ns = now - call->start;
	if (p && polls_is_slow(p, now))
		ns = polls_end_slow(p, now);
	else if (p)
		polls_close(p, 0);
	if (ns >= prof_cfg.slow_poll_ns)
		polls_row(call->event, call->values, ns);
	return 0;
}

__noinline int polls_wait(struct poll *p, struct thread *t, __u64 off, __u64 queued)
{
	if (!t || !prof_cfg.slow_poll_ns)
		return 0;
	if (!p || p->end || polls_waits_before(p, t)) {
		counters_add(PROF_FILTER_POLL);
		counters_add_n(PROF_FILTER_NS, off);
		return 0;
	}
	if (!t->count || !take(p)) {
		counters_add(!t->count ? PROF_LOST_COUNTS : PROF_LOST_POLL);
		p->lost_ns += off;
		return 0;
	}
	add_wait(p, t, off, queued);
	give(p);
	return 0;
}

__noinline int polls_dropped(struct poll *p, struct thread *t, __u64 off)
{
	if (!t || !prof_cfg.slow_poll_ns || !is_loss(outcome_of(t, off)) ||
	    outcome_of(t, off) == PROF_LOST_TIME)
		return 0;
	if (p && !p->end && !polls_waits_before(p, t)) {
		p->dropped_ns += off;
		return 0;
	}
	counters_add_n(PROF_FILTER_NS, off); /* it was in no poll, as far as we were told */
	counters_add_n(PROF_LOST_NS, -off);
	return 0;
}

__noinline int polls_ran(struct poll *p, struct thread *t, __u64 now)
{
	__u64 since;

	if (!p || !t || !prof_cfg.slow_poll_ns)
		return 0;
	since = polls_waits_before(p, t) ? p->start : t->since;
	if (!p->end)
		p->run_ns += now - since;
	else if (!p->since)
		p->since = since;
	return 0;
}

__noinline __u64 polls_ran_least(struct thread *t, __u64 now)
{
	struct poll *p = polls_of(bpf_get_current_task_btf());

	if (!p || !t || !prof_cfg.slow_poll_ns || !polls_waits_before(p, t))
		return 0;
	return now - p->start;
}

__noinline int polls_leave_cpu(struct thread *t, __u64 now, __u32 ran)
{
	struct poll *p = polls_of(bpf_get_current_task_btf());

	if (!p || !t || !prof_cfg.slow_poll_ns)
		return 0;
	if (ran)
		polls_ran(p, t, now);
	return polls_goes_on(p);
}

__noinline int polls_sample(struct poll *p, __u32 count, __u64 weight)
{
	int how;

	if (!polls_goes_on(p) || !prof_cfg.slow_poll_ns)
		return PROF_FILTER_POLL;
	if (!take(p))
		return PROF_LOST_POLL;
	how = polls_add(p, count, weight);
	p->samples += how && how != ADDED;
	p->lost += !how;
	if (how == ADDED)
		p->sampled_ns += weight;
	give(p);
	return how == ADDED ? PROF_RECORDED : 0;
}
