/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for locks of programs, with prof_cfg.lock_slots. What the lock and its holder were stands
 * in a struct prof_lock, whose slot + 1 the waiting thread keeps as its waker.
 */
#ifndef BPFPROF_BPF_LOCKS_BPF_H
#define BPFPROF_BPF_LOCKS_BPF_H

#include "threads.bpf.h"

/*
 * The current thread t leaves its CPU, and its stack is known: finds out for which lock, and who
 * holds it. A wait for anything else is filtered. Separately verified, as all here.
 */
int locks_begin(struct thread *t);

/* A task that has been waiting since before the recording: its memory cannot be read. */
__hidden void locks_found(struct task_struct *task, struct thread *t);

/*
 * How many threads, of those that share a slot, want to know who ends their wait. Most wake-ups end
 * one that nobody asks about, and to see this here takes no look at the thread's storage.
 */
#define LOCK_WANTED 4096 /* a power of two */
extern __u32 prof_lock_wanted[LOCK_WANTED];

static __always_inline __u32 *locks_wanted(__u32 tid)
{
	return &prof_lock_wanted[tid & (LOCK_WANTED - 1)];
}

static __always_inline void locks_want(struct thread *t, bool wants)
{
	if (!t->wants_waker == !wants)
		return;
	__sync_fetch_and_add(locks_wanted(t->tid), wants ? 1 : -1);
	t->wants_waker = wants;
}

/* Whether it is worth to know who ends the wait of t: nobody else can be named. */
static __always_inline bool locks_want_waker(const struct thread *t)
{
	return t->state == THREAD_WAITS && t->waker && t->wants_waker;
}

/* Whether the current thread can have ended a wait of t for a lock by itself. */
int locks_may_wake(struct thread *t);

/* The current thread, with its stack in scratch->known, ends the wait of t. */
int locks_woken(struct thread *t);

/*
 * A wait of that thread for the lock of that slot + 1 took ns. Returns what locks_keep() was given
 * last for it, or for another thread; 0 = nothing.
 */
__u64 locks_end(__u32 slot1, __u32 tid, __u64 ns);
int locks_keep(__u32 slot1, __u32 tid, __u64 counts);

#endif
