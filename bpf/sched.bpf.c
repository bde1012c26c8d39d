/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scheduler's view of all threads, as one state machine:
 *
 *	         sched_switch, as prev                sched_switch, as next
 *	RUNS ──────────────────────────► WAITS ──────────────────────────────► RUNS
 *	                  (blocked, preempted, or throttled)
 *
 * From its wake-up on, a thread that was blocked only waits for a CPU. Where that is the question,
 * a program at sched_wakeup takes the time. Else it is enough to ask the kernel, which counts such
 * waits for every task (sched_info) and costs nothing: it leaves out how long it takes a CPU to
 * come that was idle, or was interrupted for the thread's sake, since then it does not look at its
 * clock again ("a useless back to back clock update").
 *
 * A thread that is throttled (its cgroup has used up its CPU quota) looks preempted, and no wake-up
 * ends that. Its run queue counts for how long it was throttled; the rest of the wait is one for a
 * CPU.
 *
 * sched_switch runs under the lock of the run queue, with interrupts off. It looks up and adds; it
 * inserts into no map, takes no lock that is shared, and allocates nothing (tests/e2e/helpers.c
 * checks what it calls).
 */
#include "comm.bpf.h"
#include "filter.bpf.h"
#include "arena.bpf.h"
#include "locks.bpf.h"
#include "moments.bpf.h"
#include "outcome.bpf.h"
#include "owners.bpf.h"
#include "runqlat.bpf.h"
#include "sched_polls.bpf.h"
#include "unseen.bpf.h"
#include "waiting.bpf.h"
#include "waits.bpf.h"
#include <bpf/bpf_tracing.h>

__u64 prof_sched_start; /* when the recording began; 0 = not yet */
__u64 prof_sched_end;	/* when it ended; 0 = not yet */
/* The kernel counts waits for a CPU (known when the program that finds the threads has run). */
__u32 prof_sched_counts;
__u32 prof_sched_known; /* all threads that can be seen have been found */
__u32 prof_sched_short; /* for some there was no memory */

static __always_inline bool is_throttled(const struct thread *t)
{
	return PROF_WAIT_KIND(t->wait) == PROF_THROTTLED;
}

/* From now on, task is throttled on the run queue on which it is. */
static __always_inline void throttle(struct thread *t, const struct task_struct *task)
{
	t->queue = (__u64)task->se.cfs_rq;
	t->throttled_ns = wait_throttled(t);
}

/* The part of a wait in which the thread was runnable. */
static __always_inline __u64 queued_ns(const struct task_struct *next, struct thread *t, __u64 now,
				       __u64 off)
{
	__u64 ns;

	if (PROF_WAIT_KIND(t->wait) == PROF_PREEMPTED)
		return off;
	if (is_throttled(t)) {
		ns = wait_throttled(t) - t->throttled_ns;
		return ns < off ? off - ns : 0;
	}
	if (counts_waits())
		ns = kernel_queued_ns(next, t->delay);
	else
		ns = t->woken_ns ? now - t->woken_ns : 0;
	return ns < off ? ns : off;
}

static __always_inline void leave(__u64 *ctx, struct prof_counters *row, struct task_struct *prev,
				  __u64 now)
{
	struct thread *t = thread_get(prev);
	__u32 was, polls = 0;

	if (!t)
		return;
	if (unseen_can())
		unseen_before(ctx, prev, t, now);
	if (t->state == THREAD_WAITS)
		make_up(row, prev, t, now);
	was = t->state;
	t->wait = wait_of(ctx, prev);
	t->state = PROF_WAIT_STATE(t->wait) & (TASK_DEAD | EXIT_ANY) ? THREAD_GONE : THREAD_WAITS;
	if (prof_cfg.slow_poll_ns)
		polls = polls_leave_cpu(t, now, was == THREAD_RUNS && !t->outcome);
	else if (prof_cfg.running && was == THREAD_RUNS && !t->outcome)
		wait_ran(SCRATCH_SCHED, t, now - t->since, 1);
	if (prof_cfg.outlier_ns && was == THREAD_RUNS)
		hist_ran(t, now - t->since, now);
	t->since = now;
	t->ran = prev->se.sum_exec_runtime;
	if (counts_waits())
		t->delay = prev->sched_info.run_delay;
	else
		t->woken_ns = 0;
	if (is_throttled(t))
		throttle(t, prev);
	row_add(row, PROF_SWITCHES, 1);
	if (prof_cfg.filter_cgroup)
		t->outcome = filter_current(prev, t->pid, t->tid, t->comm);
	if (t->state == THREAD_GONE)
		end_thread(row, prev, t, now);
	if (prof_cfg.lock_slots && (t->outcome || t->state == THREAD_GONE))
		owners_leave(t);
	if (t->outcome || t->state == THREAD_GONE)
		return;
	t->skip = is_other_state(t->wait) ? PROF_FILTER_STATE : 0;
	if (prof_cfg.slow_poll_ns && !polls && !t->skip)
		t->skip = PROF_FILTER_POLL;
	if (!hist_alone() && (wait_is_futex(t->wait) || wait_is_epoll(t->wait)))
		t->wait |= wait_called(t->wait);
	if (!t->skip && !hist_alone())
		wait_begins(ctx, prev, t, now);
	if (prof_cfg.lock_slots) /* the others are followed since they may hold one */
		locks_begin(t);
}

/*
 * Of a thread without state that is older than the recording: the iterator did not show it. A host
 * can hide its own threads in a guest.
 */
static __always_inline bool is_hidden(const struct task_struct *task)
{
	return task->start_time < prof_sched_start && !prof_sched_short;
}

/* A thread without state: a filter leaves it out, it is hidden, or it is a loss. */
static __always_inline void stranger(struct prof_counters *row, struct task_struct *task)
{
	char comm[PROF_COMM_LEN] __attribute__((aligned(8))) = "";
	__u32 outcome;

	if (prof_cfg.filter_comm)
		comm_copy(comm, task->comm);
	outcome = filter_task(task, task->tgid, task->pid, comm);
	if (!outcome)
		outcome = is_hidden(task) ? PROF_FILTER_HIDDEN : PROF_LOST_THREAD;
	row_add(row, PROF_SEEN, 1);
	row_add(row, outcome, 1);
}

static __always_inline void enter(struct prof_counters *row, struct task_struct *next, __u64 now)
{
	struct thread *t = thread_get(next);
	__u64 off, queued;
	__u32 was;

	if (!t) {
		if (prof_sched_known)
			stranger(row, next);
		return;
	}
	was = t->state;
	if (unseen_can() && was == THREAD_RUNS) /* it was not looked at how it left */
		return;
	off = now - t->since;
	if ((was == THREAD_WAITS || was == THREAD_BORN) && is_kept(row, outcome_of(t, off), off)) {
		queued = queued_ns(next, t, now, off);
		if (hist_alone()) {
			row_add(row,
				hist_add(t, was == THREAD_BORN, queued, now) ? PROF_RECORDED
									     : PROF_LOST_ROWS,
				1);
		} else {
			if (prof_cfg.hist_rows)
				hist_add(t, was == THREAD_BORN, queued, now);
			wait_over(next, t, off, queued);
		}
	} else {
		wait_dropped(next, t, off);
	}
	t->state = THREAD_RUNS;
	t->since = now;
	if (unseen_can())
		t->delay = kernel_queued_ns(next, 0);
	if (prof_cfg.lock_slots) {
		locks_want(t, false);
		owners_run(t);
	}
}

/* ctx: whether it was preempted, the thread that leaves the CPU, and the one that gets it. */
SEC("?tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	__u64 now = bpf_ktime_get_ns(), start;
	struct prof_counters *row = counters_row();

	if (!row)
		return 0;
	start = now & mask_if_zero(row->value[PROF_RUNS]++ % TIME_EVERY);
	if (polls_are_over())
		return 0;
	if (prev->pid && !unseen_leave(ctx, prev, now))
		leave(ctx, row, prev, now);
	if (next->pid && !unseen_enter(next, now))
		enter(row, next, now);
	run_ends(row, start);
	return 0;
}

/*
 * Under the lock of the run queue: after the thread has left its CPU, and before it is given one.
 */
SEC("?tp_btf/sched_wakeup")
int sched_wakeup(__u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct prof_counters *row = counters_row();
	struct thread *t;
	__u64 start;

	if (!row)
		return 0;
	start = wake_begins(row);
	t = unseen_some() && unseen_is_out(task->pid) ? NULL : thread_get(task);
	if (t && t->state == THREAD_WAITS && !t->woken_ns)
		t->woken_ns = bpf_ktime_get_ns();
	wake_ends(row, start);
	return 0;
}

/*
 * Who wakes it. The last one before the thread runs has ended the wait: a thread that is still on
 * its way to sleep may be woken before we have seen it leave.
 */
static __always_inline void waking(__u64 *ctx, struct task_struct *task)
{
	struct thread *t;

	if (prof_cfg.lock_slots && !*locks_wanted(task->pid))
		return;
	t = thread_get(task);
	if (!t || t->outcome || t->state == THREAD_NEW || task == bpf_get_current_task_btf())
		return;
	if (!prof_cfg.lock_slots)
		wait_waker(ctx, t);
	else if (locks_want_waker(t) && locks_may_wake(t))
		wait_freed(t);
}

SEC("?tp_btf/sched_waking")
int sched_waking(__u64 *ctx)
{
	struct prof_counters *row = counters_row();
	__u64 start;

	if (!row)
		return 0;
	start = wake_begins(row);
	waking(ctx, (struct task_struct *)ctx[0]);
	wake_ends(row, start);
	return 0;
}

/*
 * Whether a task needs state. One that is left out by its process or thread is so for good; a name
 * or a cgroup may change. With outliers all are named that had a CPU.
 */
static __always_inline bool needs_state(__u32 outcome)
{
	return !outcome || outcome == PROF_FILTER_COMM || outcome == PROF_FILTER_CGROUP ||
	       prof_cfg.outlier_ns;
}

/*
 * The state of a task with its name, made if it has none (t is NULL) and may be recorded. Outside
 * of the scheduler. NULL also when there is no memory: then its waits will be lost.
 */
static __always_inline struct thread *begin(struct task_struct *task, struct thread *t,
					    const char *name)
{
	char comm[PROF_COMM_LEN] = "";
	__u32 outcome;

	bpf_probe_read_kernel_str(comm, sizeof(comm), name);
	outcome = filter_task(task, task->tgid, task->pid, comm);
	if (!outcome)
		outcome = filter_cgroup(task);
	if (!t && needs_state(outcome)) {
		t = thread_make(task);
		if (t) {
			counters_add(PROF_THREADS);
			unseen_begin(task, t);
		} else {
			prof_sched_short = 1;
		}
	}
	if (!t)
		return NULL;
	t->pid = task->tgid;
	t->tid = task->pid;
	t->outcome = outcome;
	__builtin_memcpy(t->comm, comm, sizeof(comm));
	return t;
}

/*
 * The child cannot run before this has. Not sched_process_fork: the kernel makes workers of
 * io_uring and vhost without it.
 */
SEC("?tp_btf/task_newtask")
int BPF_PROG(sched_fork, struct task_struct *child)
{
	struct thread *t;

	filter_birth(bpf_get_current_task_btf(), child);
	t = begin(child, NULL, child->comm);
	if (!t)
		return 0;
	t->since = bpf_ktime_get_ns();
	t->lived = t->since;
	t->wait = PROF_WAIT(PROF_PREEMPTED, 0, NO_SYSCALL);
	/* Of one that is born before the beginning we learn like of those that were there. */
	t->state = prof_sched_start && (prof_cfg.hist_rows || prof_cfg.running) ? THREAD_BORN
										: THREAD_NEW;
	return 0;
}

/* A name or an exec may make a task one that is recorded. */
static __always_inline void begin_renamed(struct task_struct *task, const char *name)
{
	struct thread *t = begin(task, NULL, name);

	if (!t || task != bpf_get_current_task_btf())
		return;
	t->since = bpf_ktime_get_ns();
	t->lived = t->since;
	t->ran = task->se.sum_exec_runtime;
	t->state = THREAD_RUNS;
}

/* A name ends. That of one which was left out has no life. */
static __always_inline void rename_life(struct thread *t, __u64 now)
{
	if (t->outcome)
		t->lived = now;
	else
		wait_lived(t, now, 0);
}

/* The task is running, so nobody else looks at its state. */
SEC("?tp_btf/task_rename")
int BPF_PROG(sched_rename, struct task_struct *task, const char *comm)
{
	struct thread *t = thread_get(task);
	__u32 tid = t ? t->tid : 0;

	if (!t) {
		begin_renamed(task, comm);
		return 0;
	}
	if (prof_cfg.running)
		rename_life(t, bpf_ktime_get_ns());
	if (prof_cfg.lock_slots)
		owners_leave(t);
	begin(task, t, comm);
	/* An exec in another thread than the first makes it the first, whose row is another one. */
	if (t->tid != tid)
		t->row = 0;
	t->names++;
	t->count_run = 0;
	if (!prof_cfg.stacks) {
		t->last[0].count = 0;
		t->last[1].count = 0;
	}
	hist_rename(t);
	return 0;
}

static __always_inline __u64 nr_switches(const struct task_struct *task)
{
	return task->nvcsw + task->nivcsw;
}

/* What a task that does not run waits for. */
static __always_inline __u32 wait_before(struct task_struct *task, __u32 state)
{
	__u32 kind = PROF_BLOCKED;

	if (kernel_is_queued(task)) {
		kind = kernel_is_throttled(task) ? PROF_THROTTLED : PROF_PREEMPTED;
		state = 0;
	}
	return PROF_WAIT(kind, state & 0xfff, syscall_of(task));
}

/* And with what, if it is a futex or an epoll. */
static __always_inline __u32 called_before(struct task_struct *task, __u32 wait)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return wait_called_with(wait, REGS_CALL_ARG1(regs), REGS_CALL_ARG2(regs),
				REGS_CALL_ARG3(regs));
}

/*
 * A task that is older than the recording: what it does now, it has done since the beginning. If it
 * passes through the scheduler while we look, the next turn tells.
 */
static __always_inline void find(struct task_struct *task)
{
	struct thread *t = begin(task, thread_get(task), task->comm);
	struct scratch *s = scratch_get(SCRATCH_TASKS);
	__u64 before = nr_switches(task);
	__u32 state = task->__state & ~TASK_FREEZABLE, skip = 0, wait;

	if (!s || !t)
		return;
	if (t->lived < prof_sched_start)
		t->lived = prof_sched_start;
	if (t->state != THREAD_NEW || state & (TASK_DEAD | EXIT_ANY))
		return;
	s->known = (struct halves){};
	if (kernel_is_running(task)) {
		t->since = prof_sched_start;
		t->ran = task->se.sum_exec_runtime;
		t->state = THREAD_RUNS;
		return;
	}
	wait = wait_before(task, state);
	if (is_other_state(wait))
		skip = PROF_FILTER_STATE;
	else if (prof_cfg.slow_poll_ns)
		skip = PROF_FILTER_POLL;
	else if (!t->outcome && !hist_alone())
		skip = wait_found(task);
	if (nr_switches(task) != before || kernel_is_running(task))
		return;
	t->since = prof_sched_start;
	t->ran = task->se.sum_exec_runtime;
	t->wait = wait | called_before(task, wait) | PROF_WAIT_BEFORE;
	t->skip = skip;
	t->ustack = s->known.ustack;
	t->kstack = s->known.kstack;
	if (counts_waits())
		t->delay = task->sched_info.run_delay;
	else
		t->woken_ns = 0;
	if (is_throttled(t))
		throttle(t, task);
	if (prof_cfg.lock_slots && !t->outcome)
		locks_found(task, t);
	t->state = THREAD_WAITS;
}

/* Nothing moves any more: the recording has ended. */
static __always_inline void flush(struct task_struct *task)
{
	struct prof_counters *row = counters_row();
	struct thread *t = thread_get(task);
	__u64 ns = t ? prof_sched_end - t->since : 0;

	if (t && row && prof_cfg.slow_poll_ns) {
		flush_poll(row, task, t);
		t->state = THREAD_NEW;
		return;
	}
	if (!t || !row || prof_sched_end < t->since)
		return;
	if (unseen_can() && unseen_flush(task, t, prof_sched_end)) {
		if (prof_cfg.running)
			wait_lived(t, prof_sched_end, 1);
		t->state = THREAD_NEW;
		return;
	}
	if (t->state == THREAD_RUNS && prof_cfg.running && !t->outcome)
		wait_ran(SCRATCH_TASKS, t, ns, 1);
	if ((t->state == THREAD_WAITS || t->state == THREAD_BORN) && !hist_alone() &&
	    is_kept(row, outcome_of(t, ns), ns))
		wait_is_open(t, ns);
	if (prof_cfg.running && t->state != THREAD_GONE)
		wait_lived(t, prof_sched_end, 1);
	if (prof_cfg.long_wait_ns)
		moments_end(t, prof_sched_end);
	t->state = THREAD_NEW;
}

SEC("?iter/task")
int sched_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task || !task->pid)
		return 0;
	prof_sched_counts = counts_waits();
	if (prof_sched_end)
		flush(task);
	else
		find(task);
	return 0;
}
