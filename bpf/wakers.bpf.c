/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who ends waits, and who had woken those. */
#include "comm.bpf.h"
#include "waits.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_waker);
} wakers SEC(".maps");

static __always_inline __u32 intern_waker(const struct prof_waker *key)
{
	const __u64 *name = (const __u64 *)key->comm;
	__u64 hash = hash_mix(prof_cfg.seed, key->pid | (__u64)key->tid << 32);
	struct prof_waker *w;
	__u32 slot;
	bool mine;

	hash = hash_mix(hash, key->ustack | (__u64)key->kstack << 32);
	hash = hash_mix(hash, key->next);
	hash = hash_mix(hash, name[0] * 31 + name[1]);
	hash += !hash;
	w = arena_find(&wakers, prof_cfg.waker_slots, hash, &slot, &mine);
	if (!w)
		return 0;
	if (!mine)
		return slot;
	w->pid = key->pid;
	w->tid = key->tid;
	w->ustack = key->ustack;
	w->kstack = key->kstack;
	w->next = key->next;
	__builtin_memcpy(w->comm, key->comm, PROF_COMM_LEN);
	__sync_lock_test_and_set(&w->ready, 1);
	return slot;
}

/*
 * The same waker, alone, with its own waker, and with that one's as well: the last ones asked for.
 */
__noinline int wait_chain(__u32 id, __u32 next1, __u32 next2)
{
	struct scratch *s = scratch_get(id);

	if (!s || !prof_cfg.waker_slots)
		return 0;
	s->waker.next = 0;
	s->chain[0] = s->chain[1] = s->chain[2] = intern_waker(&s->waker);
	if (prof_cfg.hops > 1 && next1) {
		s->waker.next = next1;
		s->chain[1] = s->chain[2] = intern_waker(&s->waker);
	}
	if (prof_cfg.hops > 2 && next2) {
		s->waker.next = next2;
		s->chain[2] = intern_waker(&s->waker);
	}
	return 0;
}

__noinline int wait_woken_by(struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_get(SCRATCH_SCHED);
	struct thread *w = thread_get(task);
	__u32 next1 = 0, next2 = 0;

	if (!t || !s)
		return 0;
	__builtin_memset(&s->waker, 0, sizeof(s->waker));
	s->waker.ustack = s->known.ustack;
	s->waker.kstack = s->known.kstack;
	s->waker.pid = task->tgid;
	s->waker.tid = task->pid;
	comm_copy(s->waker.comm, task->comm);
	if (w) {
		next1 = w->wakers[0];
		next2 = w->wakers[1];
	}
	wait_chain(SCRATCH_SCHED, next1, next2);
	t->wakers[0] = s->chain[0];
	t->wakers[1] = s->chain[1];
	t->waker = prof_cfg.hops > 2 ? s->chain[2] : prof_cfg.hops > 1 ? s->chain[1] : s->chain[0];
	return 0;
}
