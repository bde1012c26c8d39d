/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of a wait: how it begins with its stack, and where its time goes when it ends.
 *
 * Functions that return int are verified by themselves, once, however many paths lead to them.
 * wait_begins() and wait_waker() are no functions of their own: bpf_get_stack() wants the
 * context, which only a program itself has, and the deepest walk has all of the eight frames that a
 * program may have.
 */
#ifndef BPFPROF_BPF_WAITS_BPF_H
#define BPFPROF_BPF_WAITS_BPF_H

#include "locks.bpf.h"
#include "stacks.bpf.h"
#include "threads.bpf.h"

/* A wait is over: off ns, the last queued ns of them for a CPU. */
int wait_ends(struct thread *t, __u64 off, __u64 queued);

/* For how long the queue in which t is throttled has been throttled in all. */
__u64 wait_throttled(struct thread *t);

static __always_inline bool wait_is_futex(__u32 wait)
{
	return (wait & ~PROF_WAIT_IO) == PROF_WAIT(PROF_BLOCKED, TASK_INTERRUPTIBLE, SYSCALL_FUTEX);
}

static __always_inline bool wait_is_epoll(__u32 wait)
{
	__u32 sleeps = wait & ~PROF_WAIT_IO;

	return sleeps == PROF_WAIT(PROF_BLOCKED, TASK_INTERRUPTIBLE, SYSCALL_EPOLL) ||
	       sleeps == PROF_WAIT(PROF_BLOCKED, TASK_INTERRUPTIBLE, SYSCALL_EPOLL_P);
}

/*
 * What a futex is waited for with, or which epoll is waited in, as bits of a wait that is one of
 * these (the second says 0 of others, too); the first of the current thread. verifier: of their
 * own, so that their answers are one number for those who ask.
 */
int wait_called(__u32 wait);
int wait_called_with(__u32 wait, __u32 fd, __u32 op, __u32 expected);

/* The count of a thread that runs, 0 = there is no room. With the scratch of that number. */
int wait_run_count(__u32 id, struct thread *t);

/* A thread ran for ns, in nr turns. With the same. */
int wait_ran(__u32 id, struct thread *t, __u64 ns, __u32 nr);

/*
 * A thread has ended, or its name has: where threads are merged, nobody could tell from the counts
 * how long it lived. nr: 1, or 0 if it goes on.
 */
int wait_lived(struct thread *t, __u64 now, __u32 nr);

/* A wait that nobody will see the end of has come to off ns. */
int wait_is_open(struct thread *t, __u64 off);

/*
 * Waits of a thread that were not looked at: how many were blocked and preempted, and for how long
 * it was blocked, ran, and waited for a CPU. Before they are settled (unseen.bpf.h), ns is all.
 */
struct wait_gap {
	__u32 nr_blocked, nr_preempted;
	__u64 ns, ran_ns, queued_ns;
	__u64 until; /* they were over */
};
int wait_gap(__u32 id, struct thread *t, const struct wait_gap *gap);

/*
 * A thread that has been waiting since before the recording: interns its stack into known of
 * SCRATCH_TASKS, which is empty. The outcome of its wait, 0 = recorded. What it is counted as is
 * claimed when the wait ends: there may be very many that never do.
 */
__hidden __u32 wait_found(struct task_struct *task);

/* The parts of wait_begins() and wait_waker(), in this order. */

/* What is left to do: 0, or some of these. user: it has a stack in user memory. */
#define WAIT_WALK	    1u	/* the stack has to be walked, */
#define WAIT_HALF	    2u	/* only the kernel's half: the user's is in scratch->was */
#define WAIT_KEEP	    4u	/* it may be remembered, */
#define WAIT_COMPARE_USER   8u	/* and was known before, */
#define WAIT_COMPARE_KERNEL 16u /* so what is found now should be the same */
int wait_look(struct thread *t, __u64 now, __u32 user);
/* The same where there are no stacks. */
int wait_again(struct thread *t);
/*
 * Interns both halves of the current thread's stack into scratch->known; of the kernel's half so
 * many bytes are in the scratch. 0: lost.
 */
int wait_walk(int bytes, __u32 todo);
int wait_walked(struct thread *t, __u32 todo, __u32 found);
/* Whether there is time for a walk. */
int wait_may_walk(__u64 now);
/* The current thread, with the stack in scratch->known, ends the wait of t. */
int wait_woken_by(struct thread *t);

static __always_inline int wait_stack(void *ctx, struct scratch *s, __u32 todo)
{
	int bytes = 0;

	if (!prof_cfg.no_kstacks)
		bytes = bpf_get_stack(ctx, s->kernel.frames, PROF_MAX_KFRAMES * sizeof(__u64), 0);
	if (bytes < 0)
		counters_add(PROF_KSTACK_FAILED);
	return wait_walk(bytes, todo);
}

/* The current thread, which leaves its CPU: finds out what is counted for this wait. */
static __always_inline void wait_begins(void *ctx, struct task_struct *task, struct thread *t,
					__u64 now)
{
	struct scratch *s;
	__u32 todo;

	if (!prof_cfg.stacks) {
		wait_again(t);
		return;
	}
	s = scratch_get(SCRATCH_SCHED);
	if (!s) {
		t->skip = PROF_LOST_SCRATCH;
		return;
	}
	*(volatile __u64 *)&s->ctx_at = (__u64)ctx;
	s->leaves = 1;
	todo = wait_look(t, now, !prof_cfg.no_ustacks && stacks_has_user(task));
	if (todo)
		wait_walked(t, todo, wait_stack(ctx, s, todo));
}

/*
 * The current thread ends the wait of t, or an interrupt does: user space sees from the stack that
 * the thread had nothing to do with it.
 */
static __always_inline void wait_waker(void *ctx, struct thread *t)
{
	struct scratch *s = scratch_get(SCRATCH_SCHED);

	if (!s)
		return;
	s->known = (struct halves){};
	s->leaves = 0;
	if (wait_may_walk(bpf_ktime_get_ns()))
		wait_stack(ctx, s, WAIT_WALK);
	wait_woken_by(t);
}

/* The same of a lock. The kernel's half is always the system call that frees it. */
static __always_inline void wait_freed(struct thread *t)
{
	struct scratch *s = scratch_get(SCRATCH_SCHED);

	if (!s)
		return;
	s->known = (struct halves){};
	s->leaves = 0;
	if (wait_may_walk(bpf_ktime_get_ns()))
		wait_walk(0, WAIT_WALK);
	locks_woken(t);
}

#endif
