/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A slot of the table of threads that may hold locks (owners.bpf.c). Its thread writes, and others
 * read meanwhile, without a lock. Pure: the host compiles it too, to be tested.
 *
 * A slot is taken with a hash that nobody looks for, and gets the right one when the name and the
 * number in it are the thread's: who finds that hash before and after has read of this thread
 * alone. The same holds for what it waits for, and the time since when.
 */
#ifndef BPFPROF_BPF_OWNER_BPF_H
#define BPFPROF_BPF_OWNER_BPF_H

#include "lock.h"

#if defined(__TARGET_ARCH_x86) || defined(__x86_64__)
#define OWNER_IN_ORDER 1 /* the processor keeps stores in order, and loads */
#else
#define OWNER_IN_ORDER 0
#endif
/* Where another CPU may come in between: tests do something there. */
#ifndef OWNER_PAUSE
#define OWNER_PAUSE()
#endif

struct owner {
	__u64 hash;  /* of the process and the thread's number there; 0 = free */
	__u64 since; /* it waits; 0 = it runs */
	__u32 tid;   /* as the first namespace numbers it */
	__u32 wait;  /* as in prof_count */
	__u32 ustack, kstack;
	__u32 next; /* the lock that it waits for: slot + 1 */
	__u32 pad;
	char comm[PROF_COMM_LEN];
	__u64 task; /* never followed unchecked */
};
_Static_assert(sizeof(struct owner) == 64, "struct owner is one cache line");

/* Odd and not 1: hash - 1 is that of a slot which is taken and not ready. */
static inline __attribute__((always_inline)) __u64 owner_hash(__u64 hash)
{
	return hash | 3;
}

/* Stores before it are seen first. */
static inline __attribute__((always_inline)) void owner_publish(__u64 *at, __u64 value)
{
	OWNER_PAUSE();
	if (OWNER_IN_ORDER) {
		__asm__ volatile("" ::: "memory");
		*(volatile __u64 *)at = value;
	} else {
		__sync_lock_test_and_set(at, value);
	}
	__asm__ volatile("" ::: "memory");
}

/* Loads before it are made first. own: a word that nobody else looks at. */
static inline __attribute__((always_inline)) void owner_loaded(__u64 *own)
{
	if (OWNER_IN_ORDER)
		__asm__ volatile("" ::: "memory");
	else
		__sync_fetch_and_add(own, 1);
	OWNER_PAUSE();
}

/* False: it is another thread's. */
static inline __attribute__((always_inline)) bool owner_take(struct owner *o, __u64 hash, __u32 tid,
							     const char *comm, __u64 task)
{
	__u64 was = __sync_val_compare_and_swap(&o->hash, 0, hash - 1);

	OWNER_PAUSE();
	if (was && was != hash)
		return false;
	if (was) /* a thread of that number had it, whose end was not seen */
		__sync_lock_test_and_set(&o->hash, hash - 1);
	o->since = 0;
	o->tid = tid;
	OWNER_PAUSE();
	o->task = task;
	__builtin_memcpy(o->comm, comm, PROF_COMM_LEN);
	owner_publish(&o->hash, hash);
	return true;
}

/* It runs: nothing else in the slot is to be believed. */
static inline __attribute__((always_inline)) void owner_run(struct owner *o)
{
	owner_publish(&o->since, 0);
}

static inline __attribute__((always_inline)) void
owner_wait(struct owner *o, __u64 since, __u32 wait, __u32 ustack, __u32 kstack, __u32 next)
{
	if (o->since) /* it was not seen to run; else the scheduler has had barriers since */
		__sync_lock_test_and_set(&o->since, 0);
	o->wait = wait;
	o->ustack = ustack;
	OWNER_PAUSE();
	o->kstack = kstack;
	o->next = next;
	owner_publish(&o->since, since);
}

static inline __attribute__((always_inline)) void owner_leave(struct owner *o)
{
	owner_run(o);
	owner_publish(&o->hash, 0);
}

static inline __attribute__((always_inline)) bool owner_is(const struct owner *o, __u64 hash)
{
	return *(const volatile __u64 *)&o->hash == hash;
}

/*
 * What the thread of that hash does, and its task. False: the slot is another one's by now, and
 * what was noted may be of either.
 */
static inline __attribute__((always_inline)) bool
owner_read(const struct owner *o, __u64 hash, struct prof_lock *l, __u64 *task, __u64 *own)
{
	__u64 since;

	owner_loaded(own); /* after its hash was found */
	since = *(const volatile __u64 *)&o->since;
	owner_loaded(own);
	*task = o->task;
	l->holder_tid = o->tid;
	OWNER_PAUSE();
	__builtin_memcpy(l->comm, o->comm, PROF_COMM_LEN);
	l->role = LOCK_HOLDS;
	l->wait = o->wait;
	l->ustack = o->ustack;
	OWNER_PAUSE();
	l->kstack = o->kstack;
	l->next = o->next;
	owner_loaded(own);
	if (!owner_is(o, hash))
		return false;
	if (since && *(const volatile __u64 *)&o->since == since)
		return true;
	l->role = LOCK_RUNS;
	l->wait = PROF_WAIT(PROF_RUNNING, 0, -1);
	l->ustack = l->kstack = l->next = 0;
	return true;
}

#endif
