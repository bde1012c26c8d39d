/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which threads switch so often that most of it is not looked at. */
#include "unseen.bpf.h"
#include "waits.bpf.h"

/* By the number of the thread, of prof_cfg.skip_slots. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_skip);
} skips SEC(".maps");

__hidden struct prof_skip *unseen_slot(__u32 tid)
{
	__u32 slot = tid & (prof_cfg.skip_slots - 1);

	return bpf_map_lookup_elem(&skips, &slot);
}

__hidden __u32 unseen_turn(struct thread *t, __u64 now, __u32 before)
{
	struct prof_skip *skip = unseen_slot(t->tid);
	__u32 level, next, forced;

	if (!skip)
		return 0;
	forced = prof_cfg.long_wait_ns && skip->word & SKIP_FORCED ? UNSEEN_FORCED : 0;
	level = skip_level(skip->word);
	next = skip_next(level, *(volatile __u32 *)&prof_thin.skips, t->pace, before);
	if (level || next)
		skip->word = skip_word(next, now) | (skip->word & SKIP_EVENTS);
	return level ? level | forced : 0;
}

__hidden __u32 unseen_word(__u32 tid)
{
	struct prof_skip *skip = unseen_slot(tid);

	return skip ? skip->word : 0;
}

__noinline int unseen_is_out(__u32 tid)
{
	struct prof_skip *skip = prof_cfg.skip_slots ? unseen_slot(tid) : NULL;

	return skip && skip_level(skip->word) && !(skip->word & SKIP_OPEN);
}

__noinline int unseen_leaves(__u32 tid, __u32 how, __u64 now)
{
	struct prof_skip *skip = prof_cfg.skip_slots ? unseen_slot(tid) : NULL;
	__u32 word = skip ? skip->word : 0;

	if (!skip_level(word))
		return 0;
	/* Who ran for long is looked at: what it did before is told apart from that. */
	if (prof_cfg.long_wait_ns) {
		word &= ~SKIP_FORCED;
		if (how & UNSEEN_EVENTS)
			word |= SKIP_EVENTS;
		if (skip_age(skip, now) >= SKIP_LONG || (how & UNSEEN_TASK && word & SKIP_EVENTS))
			how |= UNSEEN_LOOK;
		if (how & UNSEEN_LOOK)
			word |= SKIP_FORCED;
	}
	if (!skip_leaves_out(word, now) || how & UNSEEN_LOOK) {
		skip->word = word | SKIP_OPEN;
		return 0;
	}
	skip->word = (word & SKIP_KEEPS) |
		     (how & UNSEEN_ON ? SKIP_PREEMPTED : (how & 0xfff) << SKIP_STATE_SHIFT);
	skip->left = now >> SKIP_UNIT_SHIFT;
	return 1;
}

__noinline int unseen_returns(__u32 tid, __u64 now)
{
	struct prof_skip *skip = prof_cfg.skip_slots ? unseen_slot(tid) : NULL;
	__u32 word = skip ? skip->word : 0, units;

	if (!skip_level(word))
		return 0;
	if (word & SKIP_OPEN) {
		skip->word = word & ~SKIP_OPEN;
		return 0;
	}
	units = (__u32)(now >> SKIP_UNIT_SHIFT) - skip->left;
	return (units & 0x7fffffff) | !units;
}

__noinline __u64 unseen_left(__u32 tid, __u64 now)
{
	struct prof_skip *skip = prof_cfg.skip_slots ? unseen_slot(tid) : NULL;
	__u32 ago;

	if (!skip)
		return now;
	ago = skip_age(skip, now);
	skip->left = now >> SKIP_UNIT_SHIFT;
	return ago > SKIP_LONG ? now - ((__u64)(ago - SKIP_LONG) << SKIP_UNIT_SHIFT) : now;
}

static __always_inline void without_last(struct wait_gap *gap, __u32 last)
{
	if (last == UNSEEN_ALL)
		return;
	if (gap->nr_blocked && (last == UNSEEN_BLOCKED || !gap->nr_preempted))
		gap->nr_blocked--;
	else if (gap->nr_preempted)
		gap->nr_preempted--;
}

__noinline int unseen_settle(__u32 id, struct thread *t, struct wait_gap *gap, __u32 last)
{
	struct prof_counters *row = counters_row();
	__u64 off;
	__u32 nr;

	if (!t || !gap || !row || !prof_cfg.skip_slots ||
	    (t->state != THREAD_RUNS && t->state != THREAD_WAITS))
		return 0;
	without_last(gap, last);
	nr = gap->nr_blocked + gap->nr_preempted;
	row_add(row, PROF_SWITCHES, nr);
	if (t->state == THREAD_WAITS) { /* and it was not seen how a wait ended */
		gap->nr_blocked++;
		nr++;
	}
	t->state = THREAD_RUNS;
	if (gap->ran_ns > gap->ns)
		gap->ran_ns = gap->ns;
	off = gap->ns - gap->ran_ns;
	if (prof_cfg.running && !t->outcome)
		wait_ran(id, t, gap->ran_ns, nr);
	if (gap->queued_ns > off)
		gap->queued_ns = off;
	gap->ns = off - gap->queued_ns;
	row_add(row, PROF_SEEN, nr);
	if (t->outcome) {
		row_add(row, t->outcome, nr);
		row_add(row, PROF_FILTER_NS, off);
		return 0;
	}
	row_add(row, PROF_THINNED, nr);
	wait_gap(id, t, gap);
	return 0;
}

__noinline int unseen_told(__u32 id, struct thread *t, __u64 off, __u64 queued)
{
	struct prof_counters *row = counters_row();

	if (!t || !row || !prof_cfg.skip_slots)
		return 0;
	t->count = t->count_woken = t->ustack = t->kstack = 0;
	t->skip = 0;
	row_add(row, PROF_SWITCHES, 1);
	row_add(row, PROF_THINNED, 1);
	if (!is_kept(row, outcome_of(t, off), off))
		return 0;
	if (id == SCRATCH_TASKS)
		wait_is_open(t, off);
	else
		wait_ends(t, off, queued < off ? queued : off);
	return 0;
}

__noinline int unseen_end(struct thread *t, struct wait_gap *gap, __u64 end, __u32 wait,
			  __u32 is_running)
{
	struct prof_skip *skip = t && prof_cfg.skip_slots ? unseen_slot(t->tid) : NULL;
	__u32 word = skip ? skip->word : 0;
	__u64 off;

	if (!t || !gap || t->state != THREAD_RUNS || !skip_level(word) || word & SKIP_OPEN)
		return 0;
	off = (__u64)((__u32)(end >> SKIP_UNIT_SHIFT) - skip->left) << SKIP_UNIT_SHIFT;
	if (is_running || off < PROF_SKIPPED_NS || off >= gap->ns) {
		unseen_settle(SCRATCH_TASKS, t, gap, UNSEEN_ALL);
		return 1;
	}
	gap->ns -= off;
	t->wait = unseen_wait(word) | wait;
	unseen_settle(SCRATCH_TASKS, t, gap,
		      word & SKIP_PREEMPTED ? UNSEEN_PREEMPTED : UNSEEN_BLOCKED);
	t->since = end - off;
	unseen_told(SCRATCH_TASKS, t, off, 0);
	return 1;
}
