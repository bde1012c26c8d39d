/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Switches that were not looked at: what the kernel has counted all the same. Of a thread it knows
 * how long it ran (se.sum_exec_runtime), how long it waited for a CPU (sched_info.run_delay), and
 * how often it left one (nvcsw, nivcsw); the rest of the time it was blocked.
 *
 * Either the program was not told, which is rare, or the thread switches so often that most of it
 * is left out (skips.bpf.h). Then what lies between two switches that were looked at is a gap: its
 * time goes to counts without stacks, by which user space raises those with stacks.
 */
#ifndef BPFPROF_BPF_UNSEEN_BPF_H
#define BPFPROF_BPF_UNSEEN_BPF_H

#include "outcome.bpf.h"
#include "sched_polls.bpf.h"
#include "skips.bpf.h"
#include "waiting.bpf.h"

/* Without it, wake-ups are followed by their tracepoint. */
static __always_inline bool counts_waits(void)
{
	return !prof_cfg.wakeups && kernel_counts_waits();
}

/* Waits become histograms and nothing else: runqlat. top has both. */
static __always_inline bool hist_alone(void)
{
	return prof_cfg.hist_rows && !prof_cfg.running;
}

/* Switches may be left out. */
static __always_inline bool unseen_can(void)
{
	return prof_cfg.skip_slots && kernel_counts_waits();
}

/* NULL never, but for the verifier. */
__hidden struct prof_skip *unseen_slot(__u32 tid);
/*
 * The thread leaves its CPU and is looked at. before: its pace without this wait. Returns the level
 * that this wait was found at.
 */
__hidden __u32 unseen_turn(struct thread *t, __u64 now, __u32 before);
#define UNSEEN_FORCED                                                                              \
	0x100u /* with that level: it was not by chance, and stands for itself alone */

/* verifier: those that return int are of their own, so that their answer is one number. */

#define UNSEEN_ON     0x1000u /* could have gone on */
#define UNSEEN_LOOK   0x2000u /* is to be looked at, whatever its level is */
#define UNSEEN_EVENTS 0x4000u /* waits for events */
#define UNSEEN_TASK   0x8000u /* is to be looked at if its thread waits for events now and then */
/* Does that thread have no CPU, and was it not looked at how it left it? */
int unseen_is_out(__u32 tid);
/* Is it not looked at how that thread leaves its CPU? how: its state, and those. */
int unseen_leaves(__u32 tid, __u32 how, __u64 now);
/*
 * A thread gets its CPU: since when it has none, in units of SKIP_UNIT_SHIFT and at least 1, if it
 * was not looked at how it left it; 0 = it is looked at.
 */
int unseen_returns(__u32 tid, __u64 now);
__hidden __u32 unseen_word(__u32 tid);

/* Of the waits in a gap, the last one, which was looked at or is told apart. */
enum unseen_last {
	UNSEEN_ALL, /* there is none */
	UNSEEN_BLOCKED,
	UNSEEN_PREEMPTED,
};
/* All but that one go to the counts of the thread, with the scratch of that number. */
int unseen_settle(__u32 id, struct thread *t, struct wait_gap *gap, __u32 last);
/* One of off ns that is told apart, t->wait; SCRATCH_TASKS: it has not ended. */
int unseen_told(__u32 id, struct thread *t, __u64 off, __u64 queued);
/*
 * A thread leaves its CPU at that time and is looked at: when its last wait before that can have
 * ended, at the latest. With prof_cfg.long_wait_ns.
 */
__u64 unseen_left(__u32 tid, __u64 now);
/* As unseen_flush() says. wait: the bits of its system call. */
int unseen_end(struct thread *t, struct wait_gap *gap, __u64 end, __u32 wait, __u32 is_running);

/* What a wait was that nobody looked at as it began, without its system call. */
static __always_inline __u32 unseen_wait(__u32 word)
{
	__u32 kind = word & SKIP_PREEMPTED ? PROF_PREEMPTED : PROF_BLOCKED;

	return PROF_WAIT(kind, word >> SKIP_STATE_SHIFT & 0xfff, -1) | PROF_WAIT_NOT_SAMPLED;
}

/*
 * A thread leaves its CPU that we were not told had been given one. How long it ran the kernel has
 * counted; the rest it waited.
 */
static __always_inline void make_up(struct prof_counters *row, struct task_struct *prev,
				    struct thread *t, __u64 now)
{
	__u64 all = now - t->since, ran = prev->se.sum_exec_runtime - t->ran, least;
	__u32 outcome;

	least = prof_cfg.slow_poll_ns ? polls_ran_least(t, now) : 0;
	if (ran < least)
		ran = least;
	if (ran > all)
		ran = all;
	outcome = outcome_of(t, all - ran);
	if (!outcome && hist_alone()) /* since when it could run is not known */
		outcome = PROF_LOST_UNSEEN;
	row_add(row, PROF_MADE_UP, 1);
	if (is_kept(row, outcome, all - ran))
		wait_over(prev, t, all - ran, 0);
	else
		wait_dropped(prev, t, all - ran);
	t->state = THREAD_RUNS;
	t->since = now - ran;
}

/* From now on, all is known of the thread. */
static __always_inline void unseen_looked(const struct task_struct *task, struct thread *t)
{
	t->nr_blocked = task->nvcsw;
	t->nr_preempted = task->nivcsw;
}

/* What the kernel has counted of the thread since it was looked at, until that time. */
static __always_inline void unseen_gap(const struct task_struct *task, const struct thread *t,
				       __u64 until, struct wait_gap *gap)
{
	gap->nr_blocked = (__u32)task->nvcsw - t->nr_blocked;
	gap->nr_preempted = (__u32)task->nivcsw - t->nr_preempted;
	gap->ns = until - t->since;
	gap->until = until;
	gap->ran_ns = task->se.sum_exec_runtime - t->ran;
	gap->queued_ns = task->sched_info.run_delay - t->delay;
}

/* The thread leaves its CPU and is looked at, perhaps for the first time after others. */
static __always_inline void unseen_before(const __u64 *ctx, const struct task_struct *prev,
					  struct thread *t, __u64 now)
{
	struct wait_gap gap;

	unseen_gap(prev, t, now, &gap);
	if (prof_cfg.long_wait_ns)
		gap.until = unseen_left(prev->pid, now);
	if (gap.nr_blocked + gap.nr_preempted > 1) {
		unseen_settle(SCRATCH_SCHED, t, &gap,
			      ctx[0] || !kernel_prev_state(ctx) ? UNSEEN_PREEMPTED
								: UNSEEN_BLOCKED);
		if (prof_cfg.running) /* that it ran is settled, too */
			t->since = now;
	}
	unseen_looked(prev, t);
}

/* A thread becomes known. */
static __always_inline void unseen_begin(const struct task_struct *task, struct thread *t)
{
	if (!unseen_can())
		return;
	t->delay = task->sched_info.run_delay;
	unseen_looked(task, t);
}

/*
 * With prof_cfg.long_wait_ns: a worker of a runtime waits often for events, and parks. Where it
 * waits otherwise, it does so in a task, and may leave the driver to nobody.
 */
static __always_inline bool unseen_is_telling(__u32 wait)
{
	__u32 futex = PROF_WAIT_FUTEX(wait);
	int nr = PROF_WAIT_SYSCALL(wait);

	if (nr == SYSCALL_FUTEX)
		return futex != PROF_FUTEX_COUNTER && futex != PROF_FUTEX_PARKING_LOT;
	return PROF_WAIT_KIND(wait) == PROF_BLOCKED && nr != SYSCALL_EPOLL && nr != SYSCALL_EPOLL_P;
}

static __always_inline __u32 unseen_in(struct task_struct *prev, __u32 state)
{
	int nr = syscall_of(prev);
	__u32 wait = PROF_WAIT(PROF_BLOCKED, state, nr);

	if (nr == SYSCALL_EPOLL || nr == SYSCALL_EPOLL_P)
		return UNSEEN_EVENTS;
	if (nr == SYSCALL_FUTEX)
		wait |= wait_called(wait);
	return unseen_is_telling(wait) ? UNSEEN_TASK : 0;
}

/* How prev leaves its CPU, for unseen_leaves(). */
static __always_inline __u32 unseen_how(const __u64 *ctx, struct task_struct *prev)
{
	__u32 state = kernel_prev_state(ctx), how = state & 0xfff;

	if (state & (TASK_DEAD | EXIT_ANY))
		return how | UNSEEN_LOOK;
	if (kernel_is_blocked(ctx, state))
		return prof_cfg.long_wait_ns ? how | unseen_in(prev, how) : how;
	return kernel_is_throttled(prev) ? UNSEEN_LOOK : UNSEEN_ON;
}

/* A long wait of those that are not looked at ends: it is told apart. It has no stack. */
static __always_inline void unseen_ends(struct task_struct *next, struct thread *t, __u32 word,
					__u64 left, __u64 now)
{
	__u64 queued = kernel_queued_ns(next, next->sched_info.run_delay);
	struct wait_gap gap;

	unseen_gap(next, t, left, &gap);
	t->wait = unseen_wait(word) | PROF_WAIT(0, 0, syscall_of(next));
	unseen_settle(SCRATCH_SCHED, t, &gap,
		      word & SKIP_PREEMPTED ? UNSEEN_PREEMPTED : UNSEEN_BLOCKED);
	t->since = left;
	unseen_told(SCRATCH_SCHED, t, now - left, queued);
	t->since = now;
	t->ran = next->se.sum_exec_runtime;
	t->delay = kernel_queued_ns(next, 0);
	unseen_looked(next, t);
}

/* Some switches are left out now. verifier: asked twice, so that neither answer is one of both. */
static __always_inline bool unseen_some(void)
{
	return unseen_can() && *(volatile __u32 *)&prof_thin.skips;
}

/* Is it not looked at how that thread leaves its CPU? */
static __always_inline bool unseen_leave(const __u64 *ctx, struct task_struct *prev, __u64 now)
{
	return unseen_some() && unseen_leaves(prev->pid, unseen_how(ctx, prev), now);
}

/* Is there nothing more to do as that thread gets its CPU? */
static __always_inline bool unseen_enter(struct task_struct *next, __u64 now)
{
	__u64 units = unseen_some() ? unseen_returns(next->pid, now) : 0;
	struct thread *t;

	if (units < SKIP_LONG)
		return units;
	t = thread_get(next);
	if (t && t->state == THREAD_RUNS && now - t->since > units << SKIP_UNIT_SHIFT)
		unseen_ends(next, t, unseen_word(next->pid), now - (units << SKIP_UNIT_SHIFT), now);
	return true;
}

/*
 * The recording has ended. False: this thread was looked at to the last. Where it left its CPU
 * again after the end, as its count of switches tells, that is a few of very many.
 */
static __always_inline bool unseen_flush(struct task_struct *task, struct thread *t, __u64 end)
{
	struct wait_gap gap;

	unseen_gap(task, t, end, &gap);
	return unseen_end(t, &gap, end, PROF_WAIT(0, 0, syscall_of(task)), kernel_is_running(task));
}

#endif
