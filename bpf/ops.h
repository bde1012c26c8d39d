/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract about operations: they begin in a thread, whose stack is taken then, and end
 * wherever the kernel notices. I/O, and waits for locks of the kernel. Pure: both sides compile it.
 */
#ifndef BPFPROF_BPF_OPS_H
#define BPFPROF_BPF_OPS_H

#include "prof.h"

#ifndef __VMLINUX_H__
#include <stdbool.h>
#endif

/* Events of a recording of I/O. Numbers reach files by their names only. */
enum io_event {
	IO_BLOCK_READ,
	IO_BLOCK_WRITE,
	IO_BLOCK_WRITEBACK, /* by a worker of the kernel */
	IO_BLOCK_FLUSH,
	IO_BLOCK_DISCARD, /* and other ways to say that there is nothing */
	IO_URING_INLINE,
	IO_URING_POLLED, /* waited until the file was ready */
	IO_URING_PUNTED, /* handed to a worker thread */
	IO_CONNECT,
	IO_CONNECT_FAILED,
	IO_NR_EVENTS,
};

/* enum req_op of the kernel. */
#define BLOCK_OP_MASK	     0xffu
#define BLOCK_OP_READ	     0
#define BLOCK_OP_FLUSH	     2
#define BLOCK_OP_DISCARD     3
#define BLOCK_OP_ERASE	     5
#define BLOCK_OP_ZEROES	     9
#define BLOCK_OP_IS_WRITE(o) ((o)&1)

/*
 * What a bio is by its flags, how many bytes it has, and whether a worker submits it. A write
 * without bytes only flushes.
 */
static inline __attribute__((always_inline)) __u32 io_block_event(__u32 flags, __u32 bytes,
								  bool is_worker)
{
	__u32 op = flags & BLOCK_OP_MASK;

	if (op == BLOCK_OP_DISCARD || op == BLOCK_OP_ERASE || op == BLOCK_OP_ZEROES)
		return IO_BLOCK_DISCARD;
	if (op == BLOCK_OP_FLUSH || (BLOCK_OP_IS_WRITE(op) && !bytes))
		return IO_BLOCK_FLUSH;
	if (!BLOCK_OP_IS_WRITE(op))
		return IO_BLOCK_READ;
	return is_worker ? IO_BLOCK_WRITEBACK : IO_BLOCK_WRITE;
}

/* Events of a recording of locks of the kernel. */
enum klock_event {
	KLOCK_SPINLOCK,
	KLOCK_RWLOCK_READ,
	KLOCK_RWLOCK_WRITE,
	KLOCK_MUTEX,
	KLOCK_RWSEM_READ,
	KLOCK_RWSEM_WRITE,
	KLOCK_PERCPU_READ,
	KLOCK_PERCPU_WRITE,
	KLOCK_RTMUTEX,
	KLOCK_SEMAPHORE,
	KLOCK_NR_EVENTS,
};

/* What contention_begin says of a lock. */
#define CONTENTION_SPIN	  1u
#define CONTENTION_READ	  2u
#define CONTENTION_WRITE  4u
#define CONTENTION_RT	  8u
#define CONTENTION_PERCPU 16u
#define CONTENTION_MUTEX  32u

static inline __attribute__((always_inline)) __u32 klock_event(__u32 flags)
{
	bool rw = flags & (CONTENTION_READ | CONTENTION_WRITE), write = flags & CONTENTION_WRITE;

	if (flags & CONTENTION_MUTEX)
		return KLOCK_MUTEX;
	if (flags & CONTENTION_PERCPU)
		return write ? KLOCK_PERCPU_WRITE : KLOCK_PERCPU_READ;
	if (flags & (CONTENTION_SPIN | CONTENTION_RT) && rw)
		return write ? KLOCK_RWLOCK_WRITE : KLOCK_RWLOCK_READ;
	if (flags & CONTENTION_RT)
		return KLOCK_RTMUTEX;
	if (flags & CONTENTION_SPIN)
		return KLOCK_SPINLOCK;
	return !rw ? KLOCK_SEMAPHORE : write ? KLOCK_RWSEM_WRITE : KLOCK_RWSEM_READ;
}

/* 1 for who spins, and does nothing else until it has the lock; else 0. */
static inline __attribute__((always_inline)) __u32 klock_spins(__u32 flags)
{
	return (flags / CONTENTION_SPIN) & ~(flags / CONTENTION_MUTEX) & 1;
}

/* Who waits for a mutex says so each time that it changes between spinning and sleeping. */
static inline __attribute__((always_inline)) bool klock_goes_on(__u32 event)
{
	return event == KLOCK_MUTEX;
}

/* What a lock belongs to, as far as its waiter can tell. Reaches user space beside the address. */
enum klock_place { KLOCK_ANYWHERE, KLOCK_MMAP, KLOCK_SIGNALS };

/* Operations that are open, in buckets: each has two that it may be in. key 0 = free. */
#define OPS_WAYS 8
struct open_op {
	__u64 start;
	__u32 count;  /* slot + 1 */
	__u32 event;  /* of the profile */
	__u32 values; /* slot + 1, 0 = none */
	__u32 pad;
};
struct ops_bucket {
	__u64 key[OPS_WAYS];
	struct open_op op[OPS_WAYS];
};
_Static_assert(sizeof(struct ops_bucket) == 256, "struct ops_bucket is whole cache lines");

/* Frozen before load. */
struct ops_config {
	__u32 buckets; /* a power of two, 0 = there are no operations */
	__u32 pad;
};
_Static_assert(sizeof(struct ops_config) == 8, "struct ops_config is part of the contract");

#endif
