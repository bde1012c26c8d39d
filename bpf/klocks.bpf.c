/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Locks of the kernel that somebody has to wait for, from when he begins until he has the lock.
 * Nothing here takes a lock or allocates: the one that is waited for may be that of the allocator.
 *
 * A thread may wait for one lock while it waits for another (the spinlock within a mutex), and
 * interrupts may on top of it; so a wait is known by the thread and the lock. Semaphores and locks
 * with priority inheritance begin with the spinlock that guards them, at the same address, and may
 * wait for it again while they wait; who spins does nothing else, so such a wait ends first.
 */
#include "arena.bpf.h"
#include "ops.bpf.h"
#include <bpf/bpf_core_read.h>

/* verifier: without a branch, or it looks at all that follows twice. */
static __always_inline __u64 key_of(__u64 lock, __u64 spins)
{
	__u64 key = hash_mix(hash_mix(prof_cfg.seed, (__u64)bpf_get_current_task()), lock);

	return (key & ~3ull) | 1 | spins << 1;
}

/* verifier: apart, or it looks at all that follows once for each place, and for each event. */
__noinline int klocks_place(__u64 lock)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	__u64 mm = (__u64)task->mm, signals = (__u64)task->sighand;

	if (mm && lock == mm + bpf_core_field_offset(struct mm_struct, mmap_lock))
		return KLOCK_MMAP;
	if (signals && lock == signals + bpf_core_field_offset(struct sighand_struct, siglock))
		return KLOCK_SIGNALS;
	return KLOCK_ANYWHERE;
}

__noinline int klocks_event(__u32 flags)
{
	return klock_event(flags);
}

/* ctx: lock, flags. */
SEC("?tp_btf/contention_begin")
int klocks_begin(__u64 *ctx)
{
	struct op_begin b = { .key = key_of(ctx[0], klock_spins(ctx[1])),
			      .word = ctx[0],
			      .place = klocks_place(ctx[0]),
			      .event = klocks_event(ctx[1]) };

	b.goes_on = klock_goes_on(b.event);
	ops_begin(ctx, &b);
	return 0;
}

/* ctx: lock, whether it was given up. */
SEC("?tp_btf/contention_end")
int klocks_end(__u64 *ctx)
{
	if (!ops_end(key_of(ctx[0], 1)))
		ops_end(key_of(ctx[0], 0));
	return 0;
}
