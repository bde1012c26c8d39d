/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract about locks of programs: futexes that threads wait for, and who holds them. Pure:
 * both sides compile it. The kernel reads the words when a wait begins; user space does for waits
 * that are older than the recording.
 *
 * Only some locks say who holds them. Which word is whose follows from the operation and from the
 * value that the waiter expects in the word (glibc 2.25 and newer):
 *
 *	mutex	word 2 = taken with waiters; owner in word[2], kind in word[4]
 *	robust	the owner in the low 30 bits of the word, bit 31 = waiters
 *	PI	the same, by operations of its own
 *	rwlock	expects 3; its word[2] or word[3] before the writer: see lock_writer()
 *	join	the word is the number of the thread that is waited for, and 0 when it has ended
 *
 * All else (condition variables, semaphores, barriers, and locks of musl, Rust, Go and Java) does
 * not: then who ended the wait is the next best answer.
 */
#ifndef BPFPROF_BPF_LOCK_H
#define BPFPROF_BPF_LOCK_H

#include "prof.h"

#ifndef __VMLINUX_H__
#include <stdbool.h>
#endif

#define LOCK_COUNTS 4 /* a power of two */
#define LOCK_WORDS  8 /* 32 bits each, from the futex on */

enum lock_kind {
	LOCK_FUTEX = 0, /* nothing is known of its owner */
	LOCK_MUTEX = 1,
	LOCK_ROBUST = 2,
	LOCK_PI = 3,
	LOCK_RWLOCK = 4,
	LOCK_JOIN = 5,
	LOCK_NR_KINDS,
};

/* How the thread that is named has to do with it. */
enum lock_role {
	LOCK_NOBODY = 0, /* none is known */
	LOCK_HOLDS = 1,	 /* held it when the wait began; the stack is where it waited itself */
	LOCK_RUNS = 2,	 /* the same, and it ran: no stack */
	LOCK_FREES = 3,	 /* the same, and ended the wait: the stack is where it did that */
	LOCK_WAKES = 4,	 /* ended the wait, whoever held it */
	LOCK_NR_ROLES,
};

/* struct prof_lock.flags, in the profile as well. */
#define LOCK_DEADLOCK 1u /* a ring of waits that will never end goes through here */

/* Operations of the system call, without their flags. */
#define LOCK_OP(op)    ((op)&127)
#define LOCK_PRIVATE   128u
#define LOCK_REALTIME  256u
#define LOCK_OP_WAIT   0
#define LOCK_OP_LOCK   6
#define LOCK_OP_BITSET 9
#define LOCK_OP_PI     11
#define LOCK_OP_LOCK2  13

#define LOCK_TID_MASK 0x3fffffffu
#define LOCK_WAITERS  0x80000000u

/* What kind it may be. */
static inline __attribute__((always_inline)) __u32 lock_guess(__u32 op, __u32 expected)
{
	__u32 cmd = LOCK_OP(op);

	if (cmd == LOCK_OP_LOCK || cmd == LOCK_OP_LOCK2 || cmd == LOCK_OP_PI)
		return LOCK_PI;
	if (cmd != LOCK_OP_WAIT && cmd != LOCK_OP_BITSET)
		return LOCK_FUTEX;
	if (expected == 2)
		return LOCK_MUTEX;
	if (expected == 3)
		return LOCK_RWLOCK;
	if (expected & LOCK_WAITERS && expected & LOCK_TID_MASK)
		return LOCK_ROBUST;
	return !(op & LOCK_PRIVATE) && expected > 3 && expected < PROF_PID_LIMIT ? LOCK_JOIN
										 : LOCK_FUTEX;
}

/* Whether a thread of another process may hold it; one that is joined is never of another one. */
static inline __attribute__((always_inline)) bool lock_may_be_shared(__u32 op, __u32 kind)
{
	return !(op & LOCK_PRIVATE) && kind != LOCK_JOIN;
}

/*
 * Threads wait for a rwlock at two places in it: readers for a writer to finish, and writers for
 * each other, four bytes further on. Between them and the writer's number are two words of padding.
 */
static inline __attribute__((always_inline)) __u32 lock_writer(const __u32 *word)
{
	if (word[2])
		return 0;
	if (!word[1] && word[3])
		return word[3];
	return word[3] ? 0 : word[4];
}

/*
 * The thread that holds a lock that may be of that kind, as its process numbers it; 0 = not known,
 * or it is no such lock. Whether there is such a thread, in the same process unless the lock may be
 * shared, is for the caller to see.
 */
static inline __attribute__((always_inline)) __u32 lock_owner(__u32 kind, const __u32 *word)
{
	__u32 owner = 0;

	if (kind == LOCK_MUTEX && word[0] == 2 && word[3] && !(word[4] & ~0x3ffu))
		owner = word[2];
	else if (kind == LOCK_RWLOCK)
		owner = lock_writer(word);
	else if (kind == LOCK_PI || kind == LOCK_ROBUST)
		owner = word[0] & LOCK_TID_MASK;
	else if (kind == LOCK_JOIN)
		owner = word[0];
	return owner < PROF_PID_LIMIT ? owner : 0;
}

/*
 * A lock as a thread came to wait for it, and who held it. Interned like stacks: claimed by
 * compare-and-swap of hash, 0 = free.
 */
struct prof_lock {
	__u64 hash;
	__u64 word;   /* address of the futex */
	__u64 max_ns; /* the longest wait */
	__u32 op;     /* of the system call */
	__u32 kind;   /* enum lock_kind; what it may be, if nobody is known */
	__u32 pid;    /* whose address it is */
	__u32 owner;  /* as the lock has it: a number of the process's PID namespace */
	__u32 holder_pid, holder_tid; /* as the first namespace numbers it; 0 = not known */
	__u32 role;		      /* enum lock_role */
	__u32 wait;		      /* what the holder did, as in prof_count */
	__u32 ustack, kstack;	      /* of the holder: slots + 1, 0 = none */
	__u32 next;		      /* the lock that the holder waited for: slot + 1 */
	__u32 ready;		      /* the rest is there */
	char comm[PROF_COMM_LEN];     /* of the holder */
	/* That its last waits went to, by thread: count, and count_woken << 32. */
	__u64 counts[LOCK_COUNTS];
	__u64 pad;
};
_Static_assert(sizeof(struct prof_lock) == 128, "struct prof_lock is two cache lines");

#endif
