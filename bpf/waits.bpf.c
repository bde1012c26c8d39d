/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the time of waits goes. A count is claimed when the wait begins, since then its stack can
 * be taken; when it ends, all that is left is to add. Which count it was for the same stack is
 * remembered with it, so a thread that waits where it waited before claims nothing.
 */
#include "waits.bpf.h"
#include "audit.bpf.h"
#include "defer.bpf.h"
#include "memo.bpf.h"
#include "moments.bpf.h"
#include "pace.bpf.h"
#include "stacks.bpf.h"
#include "unseen.bpf.h"

#define ID	    SCRATCH_SCHED
#define BURST_WALKS 2000 /* may be made at once after a quiet time */

/* When this CPU may walk again: each walk moves it on by prof_cfg.walk_ns. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} walk_times SEC(".maps");

static __always_inline void note(__u32 counter)
{
	struct prof_counters *row = counters_row();

	if (row)
		row->value[counter % PROF_COUNTER_SLOTS]++;
}

/* kernel < 6.8: functions are verified even if nothing calls them, and the map may not be there. */
__noinline int wait_may_walk(__u64 now)
{
	__u32 zero = 0;
	__u64 *at, burst = (__u64)BURST_WALKS * prof_cfg.walk_ns;

	at = prof_cfg.stacks ? bpf_map_lookup_elem(&walk_times, &zero) : NULL;
	if (!at || *at > now + burst) {
		note(PROF_NOT_SAMPLED);
		return 0;
	}
	*at = (*at > now ? *at : now) + prof_cfg.walk_ns;
	return 1;
}

static __always_inline __u32 claim(__u32 id, struct thread *t, __u32 wait, __u32 ustack,
				   __u32 kstack, __u32 chain)
{
	struct scratch *s = scratch_get(id);
	__u32 count;

	if (!s)
		return 0;
	s->key.pid = t->pid;
	s->key.tid = t->tid;
	s->key.ustack = ustack;
	s->key.kstack = kstack;
	s->key.wait = wait;
	s->key.chain = chain;
	__builtin_memcpy(s->key.comm, t->comm, PROF_COMM_LEN);
	count = arena_claim(id);
	if (prof_cfg.running)
		t->own |= s->key.tid != 0;
	return count;
}

static __always_inline __u32 woken(__u32 wait)
{
	return (wait & ~PROF_WAIT(15, 0, -1)) | PROF_WAIT(PROF_WOKEN, 0, -1);
}

/*
 * Claims the counts of a wait that begins. With --hops it is known only at the end who is counted
 * with the stacks.
 */
__noinline int wait_claim(__u32 id, struct thread *t, __u32 ustack, __u32 kstack)
{
	struct scratch *s;
	__u32 halvings;

	if (!t)
		return 0;
	t->count_woken = 0;
	if (prof_cfg.hops) {
		t->ustack = ustack;
		t->kstack = kstack;
		t->count = 0;
		return 0;
	}
	s = scratch_get(id);
	halvings = s ? s->halvings : 0;
	t->count = claim(id, t, t->wait, ustack, kstack, halvings);
	if (PROF_WAIT_KIND(t->wait) != PROF_PREEMPTED)
		t->count_woken = claim(id, t, woken(t->wait), ustack, kstack, halvings);
	if (!t->count)
		t->skip = PROF_LOST_COUNTS;
	return 0;
}

__noinline int wait_walk(int bytes, __u32 todo)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_get(ID);

	if (!s)
		return 0;
	s->known = (struct halves){};
	if (bytes > 0 && !stacks_kernel_of(ID, s, (__u32)bytes / 8, &s->known.kstack))
		return 0;
	if (todo & WAIT_HALF) {
		note(PROF_HALF_WALKED);
		s->known.ustack = s->was.ustack;
		return 1;
	}
	note(PROF_WALKED);
	if (prof_cfg.no_ustacks || !stacks_has_user(task))
		return 1;
	return stacks_user(ID, s, unwind_regs_saved(s, task) ? UNWIND_END_NONE : UNWIND_END_READ,
			   &s->known.ustack);
}

/* Only where a thread enters the kernel by itself does it come back to the same place. */
static __always_inline bool comes_back(const struct thread *t, __u32 user)
{
	return prof_cfg.remember && (!user || (t->wait & 0xfff));
}

/* Without its stack. Separately verified. */
__noinline int wait_bare(struct thread *t)
{
	struct scratch *s = scratch_get(ID);

	if (!t || !s)
		return 0;
	note(PROF_THINNED);
	t->wait |= PROF_WAIT_NOT_SAMPLED;
	s->halvings = 0;
	if (memo_bare(t))
		return 0;
	wait_claim(ID, t, 0, 0);
	return memo_keep_bare(t);
}

/*
 * The stack is the one that is remembered, but where it was counted it stood for more waits, or for
 * fewer. Separately verified.
 */
__noinline int wait_recount(struct thread *t)
{
	struct scratch *s = scratch_get(ID);
	struct prof_count *c;

	if (!t || !s)
		return 0;
	c = arena_count_at(t->count);
	if (!c || c->chain == s->halvings)
		return 0;
	wait_claim(ID, t, c->ustack, c->kstack);
	return memo_put_counts(ID, t);
}

/*
 * Is the stack of this wait left out? Where most waits are not looked at at all, those that are
 * have theirs.
 */
static __always_inline bool is_thinned(struct scratch *s, struct thread *t, __u64 now)
{
	__u32 level = *(volatile __u32 *)&prof_thin.stacks, pace = PACE_COUNT_MASK, before, skips;

	s->halvings = 0;
	if (!level || prof_cfg.audit || prof_cfg.hops)
		return false;
	if (!prof_cfg.hist_rows) {
		before = t->pace;
		pace = t->pace = pace_next(before, now);
		skips = unseen_can() ? unseen_turn(t, now, before) : 0;
		if (skips & UNSEEN_FORCED)
			return false;
		if (skips) {
			s->halvings = skips * PROF_CHAIN_SKIP;
			return false;
		}
	}
	if (prof_cfg.long_wait_ns && unseen_is_telling(t->wait))
		return false;
	s->halvings = pace_halvings(pace, level);
	return pace_leaves_out(now, s->halvings);
}

__noinline int wait_look(struct thread *t, __u64 now, __u32 user)
{
	struct scratch *s = scratch_get(ID);
	__u32 todo = WAIT_WALK, found;

	if (!t || !s)
		return 0;
	if (is_thinned(s, t, now)) {
		wait_bare(t);
		return 0;
	}
	if (comes_back(t, user)) {
		todo |= WAIT_KEEP;
		found = memo_look(ID, t);
		if (found == MEMO_ALL) {
			note(PROF_VERIFIED);
			if (*(volatile __u32 *)&prof_thin.used && !prof_cfg.hops)
				wait_recount(t);
			if (!prof_cfg.audit)
				return 0;
			todo |= WAIT_COMPARE_USER | WAIT_COMPARE_KERNEL;
		} else if (found == MEMO_USER) {
			todo |= prof_cfg.audit ? WAIT_COMPARE_USER : WAIT_HALF;
		}
	}
	if (prof_cfg.audit || wait_may_walk(now))
		return todo;
	t->wait |= PROF_WAIT_NOT_SAMPLED; /* with hops it is claimed when the wait ends */
	s->halvings = 0;
	wait_claim(ID, t, 0, 0);
	return 0;
}

/*
 * What was remembered against what a walk has found now, if it has: one that was left to user space
 * cannot be compared.
 */
static __always_inline void compare(const struct scratch *s, __u32 todo)
{
	bool user = todo & WAIT_COMPARE_USER && s->was.ustack != s->known.ustack &&
		    s->user.kind == PROF_STACK_USER && !s->deferred;
	bool kernel =
		todo & WAIT_COMPARE_KERNEL && s->known.kstack && s->was.kstack != s->known.kstack;

	if (!user && !kernel)
		return;
	note(PROF_AUDIT_WRONG);
	if (user)
		audit_disagrees(PROF_STACK_USER, s->was.ustack, s->known.ustack);
	if (kernel)
		audit_disagrees(PROF_STACK_KERNEL, s->was.kstack, s->known.kstack);
}

__noinline int wait_walked(struct thread *t, __u32 todo, __u32 found)
{
	struct scratch *s = scratch_get(ID);

	if (!t || !s)
		return 0;
	if (!found) {
		t->skip = PROF_LOST_STACKS;
		return 0;
	}
	if (prof_cfg.audit)
		compare(s, todo);
	wait_claim(ID, t, s->known.ustack, s->known.kstack);
	if (todo & WAIT_KEEP && !t->skip)
		memo_keep(ID, t, todo & WAIT_HALF);
	return 0;
}

__noinline int wait_again(struct thread *t)
{
	__u32 i;

	if (!t)
		return 0;
	i = PROF_WAIT_KIND(t->wait) != PROF_BLOCKED;
	if (t->last[i].wait != t->wait || !t->last[i].count) {
		wait_claim(ID, t, 0, 0);
		t->last[i].wait = t->wait;
		t->last[i].count = t->count;
		t->last[i].count_woken = t->count_woken;
	}
	t->count = t->last[i].count;
	t->count_woken = t->last[i].count_woken;
	return 0;
}

/* Whether it is the one that claim() would find. */
static __always_inline bool is_count(__u32 count, const struct thread *t, __u32 wait)
{
	const struct prof_count *c = arena_count_at(count);
	const __u64 *name = (const __u64 *)t->comm, *is;

	if (!c)
		return false;
	is = (const __u64 *)c->comm;
	return c->tid == t->tid && c->pid == t->pid && c->ustack == t->ustack &&
	       c->kstack == t->kstack && c->wait == wait && c->chain == t->waker &&
	       is[0] == name[0] && is[1] == name[1];
}

/*
 * The counts of a wait for a lock, count_woken in the upper half: mostly those of the one before.
 * They are kept as a pair, so what is true of one is true of the other.
 */
static __always_inline __u64 lock_counts(struct thread *t, __u64 off, __u64 queued)
{
	__u64 counts = locks_end(t->waker, t->tid, off);

	if ((!queued || counts >> 32) && is_count(counts, t, t->wait))
		return counts;
	counts = claim(ID, t, t->wait, t->ustack, t->kstack, t->waker);
	if (queued)
		counts |= (__u64)claim(ID, t, woken(t->wait), t->ustack, t->kstack, t->waker) << 32;
	locks_keep(t->waker, t->tid, counts);
	return counts;
}

__noinline int wait_ends(struct thread *t, __u64 off, __u64 queued)
{
	__u32 count, count_woken;
	__u64 counts;

	if (!t)
		return 0;
	count = t->count;
	count_woken = t->count_woken;
	if (prof_cfg.lock_slots) {
		counts = lock_counts(t, off, queued);
		count = counts;
		count_woken = queued ? counts >> 32 : 0;
		t->waker = 0;
	} else if (prof_cfg.hops) {
		count = claim(ID, t, t->wait, t->ustack, t->kstack, t->waker);
		count_woken =
			queued ? claim(ID, t, woken(t->wait), t->ustack, t->kstack, t->waker) : 0;
		t->waker = 0;
	}
	if (!count) { /* of a newborn thread, or of one that was found waiting */
		count = claim(ID, t, t->wait, t->ustack, t->kstack, 0);
		if (queued && PROF_WAIT_KIND(t->wait) != PROF_PREEMPTED)
			count_woken = claim(ID, t, woken(t->wait), t->ustack, t->kstack, 0);
	}
	if (!count) {
		counters_add(PROF_LOST_COUNTS);
		return 0;
	}
	if (PROF_WAIT_KIND(t->wait) == PROF_PREEMPTED || !count_woken)
		queued = 0;
	if (prof_cfg.long_wait_ns)
		moments_wait(t, count, count_woken, off, queued);
	if (PROF_WAIT_KIND(t->wait) == PROF_PREEMPTED || !count_woken) {
		arena_add_wait(count, off, 0);
		return 0;
	}
	arena_add_wait(count, off - queued, queued);
	arena_add_wait(count_woken, queued, 0);
	return 0;
}

__noinline __u64 wait_throttled(struct thread *t)
{
	return t ? kernel_throttled_ns((const struct cfs_rq *)t->queue) : 0;
}

__noinline int wait_run_count(__u32 id, struct thread *t)
{
	if (!t)
		return 0;
	if (!t->count_run)
		t->count_run = claim(id, t, PROF_WAIT(PROF_RUNNING, 0, -1), 0, 0, 0);
	return t->count_run;
}

__noinline int wait_ran(__u32 id, struct thread *t, __u64 ns, __u32 nr)
{
	__u32 count;

	if (!t)
		return 0;
	count = wait_run_count(id, t);
	if (count && nr == 1) {
		arena_add(count, ns);
		return 0;
	}
	if (count) {
		arena_add_many(count, nr, ns);
		return 0;
	}
	counters_add(PROF_SEEN); /* no wait, so nobody else has seen it */
	counters_add(PROF_LOST_COUNTS);
	return 0;
}

__noinline int wait_lived(struct thread *t, __u64 now, __u32 nr)
{
	struct prof_count *c;
	__u64 since, name[2];

	if (!t || t->own || t->outcome || !prof_merging_ns || prof_cfg.slow_poll_ns)
		return 0;
	since = t->lived;
	t->lived = now;
	__builtin_memcpy(name, t->comm, sizeof(name));
	c = arena_count_at(arena_claim_lived(t->pid, name[0], name[1]));
	if (!c) {
		counters_add(PROF_SEEN);
		counters_add(PROF_LOST_COUNTS);
		return 0;
	}
	__sync_fetch_and_add(&c->samples, nr);
	__sync_fetch_and_add(&c->weight, now - since);
	return 0;
}

__noinline int wait_is_open(struct thread *t, __u64 off)
{
	__u32 wait, ustack, kstack, count, lock;
	struct prof_count *c;

	if (!t)
		return 0;
	c = arena_count_at(t->count);
	wait = t->wait;
	ustack = t->ustack;
	kstack = t->kstack;
	if (c && !prof_cfg.hops) {
		wait = c->wait;
		ustack = c->ustack;
		kstack = c->kstack;
	}
	lock = prof_cfg.lock_slots ? t->waker : 0;
	if (lock)
		locks_end(lock, t->tid, off);
	count = claim(SCRATCH_TASKS, t, wait | PROF_WAIT_OPEN, ustack, kstack, lock);
	if (prof_cfg.long_wait_ns) {
		moments_end(t, t->since);
		moments_put(count, off, t->since + off);
	}
	if (count)
		arena_add_wait(count, off, 0);
	else
		counters_add(PROF_LOST_COUNTS);
	return 0;
}

static __always_inline bool add_gap(__u32 id, struct thread *t, __u32 kind, __u32 nr, __u64 ns,
				    __u64 until)
{
	__u32 count;

	if (!nr) /* then there is no time of theirs, either */
		return true;
	count = claim(id, t, PROF_GAP(kind), 0, 0, 0);
	arena_add_many(count, nr, ns);
	if (prof_cfg.long_wait_ns && kind == PROF_BLOCKED && count && until > t->since)
		moments_put(count, until - t->since, until);
	return count;
}

/*
 * Which of those that waited for a CPU had been woken is not known. Only of threads that never
 * blocked, or always did.
 */
__noinline int wait_gap(__u32 id, struct thread *t, const struct wait_gap *gap)
{
	__u64 blocked, woken;

	if (!t || !gap)
		return 0;
	blocked = gap->nr_blocked ? gap->ns : 0;
	woken = gap->nr_blocked ? gap->queued_ns : 0;
	if (!add_gap(id, t, PROF_BLOCKED, gap->nr_blocked, blocked, gap->until))
		counters_add_n(PROF_LOST_COUNTS, gap->nr_blocked);
	add_gap(id, t, PROF_WOKEN, gap->nr_blocked, woken, 0);
	if (!add_gap(id, t, PROF_PREEMPTED, gap->nr_preempted,
		     gap->ns + gap->queued_ns - blocked - woken, 0))
		counters_add_n(PROF_LOST_COUNTS, gap->nr_preempted);
	return 0;
}
