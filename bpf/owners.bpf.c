/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A lock-free table of threads. Each writes to its own slot alone, at the scheduler; who waits for
 * a lock reads that of the owner, and sees whether it has changed meanwhile.
 */
#include "owners.bpf.h"
#include "arena.bpf.h"
#include <bpf/bpf_core_read.h>

#define OWNERS 8192 /* a power of two; threads beyond are found by the kernel */
#define PROBES 4

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
	__u64 hash = hash_mix(prof_cfg.seed, pid | (__u64)number << 32);

	return hash + !hash;
}

static __always_inline __u32 nth(__u64 hash, __u32 i)
{
	return ((hash + i * (hash >> 40 | 1)) & (OWNERS - 1)) + 1;
}

/* A slot of the current thread's, 0 = there is no room. */
static __always_inline __u32 claim(const struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 number = kernel_own_number(task);
	__u64 hash = hash_of(t->pid, number), was;
	struct owner *o;

	for (__u32 i = 0; i < PROBES && number; i++) {
		o = owner_at(nth(hash, i));
		if (!o)
			return 0;
		was = __sync_val_compare_and_swap(&o->hash, 0, hash);
		if (!was || was == hash) {
			o->task = (__u64)task;
			return nth(hash, i);
		}
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
	o->tid = t->tid;
	o->wait = t->wait;
	o->ustack = stacks ? t->ustack : 0;
	o->kstack = stacks ? t->kstack : 0;
	o->next = t->waker;
	__builtin_memcpy(o->comm, t->comm, PROF_COMM_LEN);
	*(volatile __u64 *)&o->since = t->since;
	return 0;
}

__noinline int owners_run(struct thread *t)
{
	struct owner *o = t ? owner_at(t->owner) : NULL;

	if (o)
		*(volatile __u64 *)&o->since = 0;
	return 0;
}

__noinline int owners_leave(struct thread *t)
{
	struct owner *o = t ? owner_at(t->owner) : NULL;

	if (!o)
		return 0;
	t->owner = 0;
	*(volatile __u64 *)&o->since = 0;
	*(volatile __u64 *)&o->hash = 0;
	return 0;
}

/*
 * Who was woken has got the lock for which it waited, or soon will. Would it be shown as waiting,
 * locks that are handed on would make longer chains each time, and fill the table.
 */
static __always_inline bool is_woken(const struct owner *o)
{
	struct task_struct *task = (struct task_struct *)o->task;

	return !BPF_CORE_READ(task, __state);
}

static __always_inline void note_state(struct prof_lock *l, const struct owner *o)
{
	__u64 since = *(volatile __u64 *)&o->since;

	l->role = LOCK_HOLDS;
	l->wait = o->wait;
	l->ustack = o->ustack;
	l->kstack = o->kstack;
	l->next = o->next && !is_woken(o) ? o->next : 0;
	if (since && *(volatile __u64 *)&o->since == since)
		return;
	l->role = LOCK_RUNS;
	l->wait = PROF_WAIT(PROF_RUNNING, 0, -1);
	l->ustack = l->kstack = l->next = 0;
}

__noinline int owners_find(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct owner *o = NULL;
	__u64 hash;

	if (!s || !prof_cfg.lock_slots)
		return 0;
	hash = hash_of(s->lock.pid, s->lock.owner);
	for (__u32 i = 0; i < PROBES; i++) {
		o = owner_at(nth(hash, i));
		if (!o)
			return 0;
		if (*(volatile __u64 *)&o->hash == hash)
			break;
	}
	if (!o || *(volatile __u64 *)&o->hash != hash)
		return 0;
	s->lock.holder_pid = s->lock.pid;
	s->lock.holder_tid = o->tid;
	__builtin_memcpy(s->lock.comm, o->comm, PROF_COMM_LEN);
	note_state(&s->lock, o);
	return 1;
}
