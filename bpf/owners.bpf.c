/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A lock-free table of threads. Each writes to its own slot alone, at the scheduler; who waits for
 * a lock reads that of the owner, and sees whether it has changed meanwhile.
 */
#include "owners.bpf.h"
#include "arena.bpf.h"
#include "owner.bpf.h"
#include <bpf/bpf_core_read.h>

#define OWNERS 8192 /* a power of two; threads beyond are found by the kernel */
#define PROBES 4

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OWNERS);
	__type(key, __u32);
	__type(value, struct owner);
} owners SEC(".maps");

static __always_inline struct owner *owner_at(__u32 slot1)
{
	__u32 slot = slot1 - 1;

	return prof_cfg.lock_slots && slot1 ? bpf_map_lookup_elem(&owners, &slot) : NULL;
}

static __always_inline __u64 hash_of(__u32 pid, __u32 number)
{
	return owner_hash(hash_mix(prof_cfg.seed, pid | (__u64)number << 32));
}

static __always_inline __u32 nth(__u64 hash, __u32 i)
{
	return (((hash >> 2) + i * (hash >> 40 | 1)) & (OWNERS - 1)) + 1;
}

/* A slot of the current thread's, 0 = there is no room. */
static __always_inline __u32 claim(const struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 number = kernel_own_number(task);
	__u64 hash = hash_of(t->pid, number);
	struct owner *o;

	for (__u32 i = 0; i < PROBES && number; i++) {
		o = owner_at(nth(hash, i));
		if (!o)
			return 0;
		if (owner_take(o, hash, t->tid, t->comm, (__u64)task))
			return nth(hash, i);
	}
	return 0;
}

__noinline int owners_wait(struct thread *t, int stacks)
{
	struct owner *o;

	if (!t || !prof_cfg.lock_slots)
		return 0;
	if (!t->owner)
		t->owner = claim(t);
	o = owner_at(t->owner);
	if (!o)
		return 0;
	owner_wait(o, t->since, t->wait, stacks ? t->ustack : 0, stacks ? t->kstack : 0, t->waker);
	return 0;
}

__noinline int owners_run(struct thread *t)
{
	struct owner *o = t ? owner_at(t->owner) : NULL;

	if (o)
		owner_run(o);
	return 0;
}

__noinline int owners_leave(struct thread *t)
{
	struct owner *o = t ? owner_at(t->owner) : NULL;

	if (!o)
		return 0;
	t->owner = 0;
	owner_leave(o);
	return 0;
}

/*
 * Who was woken has got the lock for which it waited, or soon will. Would it be shown as waiting,
 * locks that are handed on would make longer chains each time, and fill the table.
 */
static __always_inline bool is_woken(__u64 at)
{
	return !BPF_CORE_READ((struct task_struct *)at, __state);
}

static __always_inline void forget(struct prof_lock *l)
{
	l->holder_tid = l->role = l->wait = l->ustack = l->kstack = l->next = 0;
	__builtin_memset(l->comm, 0, PROF_COMM_LEN);
}

__noinline int owners_find(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct owner *o = NULL;
	__u64 hash, task;

	if (!s || !prof_cfg.lock_slots)
		return 0;
	hash = hash_of(s->lock.pid, s->lock.owner);
	for (__u32 i = 0; i < PROBES; i++) {
		o = owner_at(nth(hash, i));
		if (!o)
			return 0;
		if (owner_is(o, hash))
			break;
	}
	if (!o || !owner_is(o, hash))
		return 0;
	if (!owner_read(o, hash, &s->lock, &task, &s->barrier)) {
		forget(&s->lock);
		return 0;
	}
	s->lock.holder_pid = s->lock.pid;
	if (s->lock.next && is_woken(task))
		s->lock.next = 0;
	return 1;
}
