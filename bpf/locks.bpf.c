/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Locks that threads wait for, and who holds them: the number of the holder stands in the lock
 * (lock.h), and what the holder does is known of it as of any thread. So nothing is walked here.
 *
 * A thread that ran when the wait began has no stack of that time. It is taken when that thread, or
 * any other, ends the wait: who frees a lock was its holder.
 */
#include "arena.bpf.h"
#include "comm.bpf.h"
#include "locks.bpf.h"
#include "owners.bpf.h"
#include "waiting.bpf.h"
#include <bpf/bpf_core_read.h>

#define ID	  SCRATCH_SCHED
#define MAX_TRIES 4 /* to raise a maximum that others raise as well */
#define RUNS_NOW  PROF_WAIT(PROF_RUNNING, 0, -1)
/* System calls that are nothing else, on all architectures. */
#define FUTEX_WAKE 454
#define FUTEX_WAIT 455

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct prof_lock);
} locks SEC(".maps");

__u32 prof_lock_wanted[LOCK_WANTED];

static __always_inline struct prof_lock *lock_at(__u32 slot1)
{
	__u32 slot = slot1 - 1;

	return slot1 ? bpf_map_lookup_elem(&locks, &slot) : NULL;
}

static __always_inline __u64 hash_of(const struct prof_lock *l)
{
	const __u64 *name = (const __u64 *)l->comm;
	__u64 hash = hash_mix(prof_cfg.seed, l->word);

	hash = hash_mix(hash, l->op | (__u64)l->kind << 32);
	hash = hash_mix(hash, l->pid | (__u64)l->owner << 32);
	hash = hash_mix(hash, l->holder_tid | (__u64)l->role << 32);
	hash = hash_mix(hash, l->ustack | (__u64)l->kstack << 32);
	hash = hash_mix(hash, l->wait | (__u64)l->next << 32);
	hash = hash_mix(hash, name[0] * 31 + name[1]);
	return hash + !hash;
}

/* The slot + 1 of scratch->lock, 0 when the table is full. Separately verified. */
__noinline int locks_intern(__u32 id)
{
	struct scratch *s = scratch_get(id);
	struct prof_lock *l;
	__u64 hash;
	__u32 slot;
	bool mine;

	if (!s || !prof_cfg.lock_slots)
		return 0;
	hash = hash_of(&s->lock);
	l = arena_find(&locks, prof_cfg.lock_slots, hash, &slot, &mine);
	if (!l)
		return 0;
	if (!mine)
		return slot;
	s->lock.hash = hash; /* as it is already */
	s->lock.max_ns = 0;
	s->lock.ready = 0;
	__builtin_memset(s->lock.counts, 0, sizeof(s->lock.counts));
	*l = s->lock;
	__sync_lock_test_and_set(&l->ready, 1);
	return slot;
}

static __always_inline bool is_futex(__u32 wait)
{
	int nr = PROF_WAIT_SYSCALL(wait);

	return PROF_WAIT_KIND(wait) == PROF_BLOCKED && (nr == SYSCALL_FUTEX || nr == FUTEX_WAIT);
}

/* What the system call says of the lock. */
static __always_inline void note_call(struct prof_lock *l, struct task_struct *task, __u32 wait)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	bool is_new = PROF_WAIT_SYSCALL(wait) == FUTEX_WAIT;
	__u32 expected = REGS_CALL_ARG3(regs);

	__builtin_memset(l, 0, sizeof(*l));
	l->word = REGS_CALL_ARG1(regs);
	l->op = is_new ? LOCK_OP_BITSET | LOCK_PRIVATE : REGS_CALL_ARG2(regs);
	if (is_new)
		expected = REGS_CALL_ARG2(regs);
	l->pid = task->tgid;
	l->kind = lock_guess(l->op, expected);
}

/* h is another thread, which goes on meanwhile. */
static __always_inline void note_state(struct prof_lock *l, const struct thread *h, bool woken)
{
	__u64 since = *(volatile __u64 *)&h->since;

	if (h->state != THREAD_WAITS)
		return;
	l->role = LOCK_HOLDS;
	l->wait = h->wait;
	if (h->outcome ||
	    (h->skip &&
	     h->skip != PROF_FILTER_WAIT)) /* a filter leaves it out: its stacks are not known */
		return;
	l->ustack = h->ustack;
	l->kstack = h->kstack;
	l->next = woken ? 0 : h->waker; /* else chains grow at each hand-over */
	if (*(volatile __u64 *)&h->since == since && h->state == THREAD_WAITS)
		return;
	l->role = LOCK_RUNS;
	l->wait = RUNS_NOW;
	l->ustack = l->kstack = l->next = 0;
}

/* The same of a thread that is not followed: where it waits is not known. */
static __always_inline void note_stranger(struct prof_lock *l, struct task_struct *task)
{
	__u32 state = task->__state & ~TASK_FREEZABLE & 0xfff;

	if (!state || kernel_is_running(task) || kernel_is_queued(task))
		return;
	l->role = LOCK_HOLDS;
	l->wait = PROF_WAIT(PROF_BLOCKED, state, syscall_of(task));
}

/* Of a lock that is shared, the number is the same thread's to both where they count alike. */
static __always_inline bool may_hold(const struct prof_lock *l, struct task_struct *task)
{
	struct task_struct *self = bpf_get_current_task_btf();

	if (task->tgid == l->pid)
		return true;
	return lock_may_be_shared(l->op, l->kind) &&
	       BPF_CORE_READ(task, nsproxy, pid_ns_for_children) ==
		       BPF_CORE_READ(self, nsproxy, pid_ns_for_children);
}

/*
 * Notes the thread that scratch->lock says is its owner, if it is one of the current process, or
 * processes may share the lock: what was taken for a lock might be something else. Separately
 * verified.
 */
__noinline int locks_holder(void)
{
	struct scratch *s = scratch_get(ID);
	struct task_struct *task;
	struct thread *h;

	if (!s || !prof_cfg.lock_slots)
		return 0;
	task = kernel_find_task(s->lock.owner);
	if (!task)
		return 0;
	if (may_hold(&s->lock, task)) {
		s->lock.holder_pid = task->tgid;
		s->lock.holder_tid = task->pid;
		s->lock.role = LOCK_RUNS;
		s->lock.wait = RUNS_NOW;
		comm_copy(s->lock.comm, task->comm);
		h = thread_get(task);
		if (h)
			note_state(&s->lock, h, kernel_is_queued(task));
		else
			note_stranger(&s->lock, task);
	}
	kernel_put_task(task);
	return 0;
}

static __always_inline void note_owner(struct scratch *s)
{
	struct prof_lock *l = &s->lock;
	__u32 word[LOCK_WORDS];

	if (l->kind == LOCK_FUTEX)
		return;
	/* At the end of a mapping there may be no more than the first word. */
	__builtin_memset(word, 0, sizeof(word));
	if (!bpf_probe_read_user(word, sizeof(word), (void *)l->word) ||
	    !bpf_probe_read_user(word, sizeof(word[0]), (void *)l->word))
		l->owner = lock_owner(l->kind, word);
	if (l->owner && !owners_find(ID))
		locks_holder();
	if (kernel_finds_tasks() && !l->holder_tid)
		l->owner = 0;
	if (!l->owner && l->kind != LOCK_PI)
		l->kind = LOCK_FUTEX;
}

static __always_inline int begin(struct scratch *s, struct thread *t)
{
	t->waker = 0;
	locks_want(t, false); /* if it was not seen to run */
	if (!is_futex(t->wait)) {
		t->skip = PROF_FILTER_WAIT;
		return 0;
	}
	if (t->skip)
		return 0;
	note_call(&s->lock, bpf_get_current_task_btf(), t->wait);
	note_owner(s);
	t->waker = locks_intern(ID);
	locks_want(t, s->lock.role != LOCK_HOLDS || !(s->lock.ustack | s->lock.kstack));
	if (!t->waker)
		t->skip = PROF_LOST_LOCKS;
	return 0;
}

__noinline int locks_begin(struct thread *t)
{
	struct scratch *s = scratch_get(ID);
	bool stacks;

	if (!t || !s || !prof_cfg.lock_slots)
		return 0;
	stacks = !t->skip;
	begin(s, t);
	owners_wait(t, stacks);
	return 0;
}

__hidden void locks_found(struct task_struct *task, struct thread *t)
{
	struct scratch *s = scratch_get(SCRATCH_TASKS);

	if (!s || !prof_cfg.lock_slots)
		return;
	if (!is_futex(t->wait)) {
		t->skip = PROF_FILTER_WAIT;
		return;
	}
	if (t->skip)
		return;
	note_call(&s->lock, task, t->wait);
	locks_want(t, true);
	t->waker = locks_intern(SCRATCH_TASKS);
	if (!t->waker)
		t->skip = PROF_LOST_LOCKS;
}

static __always_inline bool is_shared(__u32 slot1)
{
	const struct prof_lock *l = lock_at(slot1);

	return l && !(l->op & LOCK_PRIVATE);
}

__noinline int locks_may_wake(struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	int nr;

	if (!t || !prof_cfg.lock_slots || task->flags & PF_KTHREAD)
		return 0;
	if (task->tgid != t->pid && !is_shared(t->waker))
		return 0;
	nr = REGS_SYSCALL((struct pt_regs *)bpf_task_pt_regs(task));
	return nr == SYSCALL_FUTEX || nr == SYSCALL_EXIT || nr == FUTEX_WAKE;
}

/* The holder as it was when the wait began gives way to who ended the wait. */
__noinline int locks_woken(struct thread *t)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = scratch_get(ID);
	struct prof_lock *l;
	__u32 slot;

	if (!t || !s || !prof_cfg.lock_slots)
		return 0;
	l = lock_at(t->waker);
	if (!l || !*(volatile typeof(l->ready) *)&l->ready)
		return 0;
	s->lock = *l;
	s->lock.role = l->holder_tid == task->pid ? LOCK_FREES : LOCK_WAKES;
	s->lock.holder_pid = task->tgid;
	s->lock.holder_tid = task->pid;
	s->lock.wait = RUNS_NOW;
	s->lock.ustack = s->known.ustack;
	s->lock.kstack = s->lock.next = 0;
	comm_copy(s->lock.comm, task->comm);
	slot = locks_intern(ID);
	if (slot)
		t->waker = slot;
	return 0;
}

__noinline int locks_keep(__u32 slot1, __u32 tid, __u64 counts)
{
	struct prof_lock *l = prof_cfg.lock_slots ? lock_at(slot1) : NULL;

	if (l)
		*(volatile __u64 *)&l->counts[tid % LOCK_COUNTS] = counts;
	return 0;
}

__noinline __u64 locks_end(__u32 slot1, __u32 tid, __u64 ns)
{
	struct prof_lock *l;
	__u64 most, was;

	if (!prof_cfg.lock_slots)
		return 0;
	l = lock_at(slot1);
	if (!l)
		return 0;
	most = *(volatile __u64 *)&l->max_ns;
	for (int i = 0; i < MAX_TRIES && most < ns; i++) {
		was = __sync_val_compare_and_swap(&l->max_ns, most, ns);
		if (was == most)
			break;
		most = was;
	}
	return *(volatile __u64 *)&l->counts[tid % LOCK_COUNTS];
}
