/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allocations, sampled by bytes. Each call costs the trap, a look at the thread's state, and a
 * subtraction; only where that crosses zero the stack is walked. The way to the next sample is
 * drawn anew after each, so what is left out among samples, by a filter or since it is nested, does
 * not change how likely others are.
 *
 * To learn which are still in use at the end, the address that a sampled call returns is kept until
 * it is freed. A sampled call that returns none has failed: that is told where returns are seen,
 * which costs next to nothing where the kernel asks at the entry who waits for it (sessions).
 */
#include "alloc.h"
#include "claim.bpf.h"
#include "comm.bpf.h"
#include "filter.bpf.h"
#include "guarded.bpf.h"
#include "kernel.bpf.h"
#include "stacks.bpf.h"
#include <bpf/bpf_tracing.h>

#define MAP_ANONYMOUS 0x20
#define MAP_FAILED    (-1ull)

const volatile struct alloc_config alloc_cfg = {};

/* Set by user space while probes are put up or taken down: what hits them is not counted. */
__u32 alloc_paused;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ALLOC_DRAWS);
	__type(key, __u32);
	__type(value, __u64);
} alloc_draws SEC(".maps");

struct alloc_thread {
	__s64 left; /* bytes to the next sample */
	__u64 sp;   /* of the sampled call that is to return, 0 = none */
	__u64 out;  /* where its result will be, 0 = returned */
	struct alloc_live live;
	/* The same of a call that may have to give back what it took to enlarge it. */
	__u64 moves_sp, moved_from;
	struct alloc_live moved;
	/* Of the last realloc(NULL), which may go on as malloc(); sp 0 = no longer. */
	struct grown {
		__u64 sp, caller, ip, size;
		__u64 is_seen; /* its return will be */
	} grown;
};

/* Made at the first allocation of a thread. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct alloc_thread);
} alloc_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct alloc_key);
	__type(value, struct alloc_live);
} allocs_live SEC(".maps");

static __always_inline __s64 draw(void)
{
	__u32 i = bpf_get_prandom_u32() & (ALLOC_DRAWS - 1);
	const __u64 *bytes = bpf_map_lookup_elem(&alloc_draws, &i);

	return bytes ? *bytes : ALLOC_MOST;
}

struct arguments {
	__u64 v[4];
};

/* verifier: a context may only be read at places that are known, so all are. */
static __always_inline __u64 pick(const struct arguments *a, __u32 nr)
{
	return nr == 1 ? a->v[0] : nr == 2 ? a->v[1] : nr == 3 ? a->v[2] : a->v[3];
}

static __always_inline void read_arguments(struct pt_regs *regs, __u32 how, struct arguments *a)
{
	volatile struct pt_regs *r = regs;
	__u64 result = PT_REGS_RC(r), first = PT_REGS_PARM1(r);

	a->v[0] = ALLOC_FLAGS(how) & ALLOC_IS_GO ? result : first;
	a->v[1] = PT_REGS_PARM2(r);
	a->v[2] = PT_REGS_PARM3(r);
	a->v[3] = PT_REGS_PARM4(r);
}

static __always_inline __u64 size_of(const struct arguments *a, __u32 how)
{
	__u64 size = pick(a, ALLOC_SIZE(how)), factor = 1;

	if (ALLOC_FACTOR(how))
		factor = pick(a, ALLOC_FACTOR(how));
	if ((size | factor) >> 32 && factor && size > ALLOC_MOST / factor)
		return ALLOC_MOST;
	size *= factor;
	if (ALLOC_FLAGS(how) & ALLOC_IS_MMAP && (!a->v[2] || !(a->v[3] & MAP_ANONYMOUS)))
		return 0;
	return size < ALLOC_MOST ? size : ALLOC_MOST;
}

static __always_inline struct alloc_key key_of(__u64 address)
{
	return (struct alloc_key){ .address = address, .pid = bpf_get_current_pid_tgid() >> 32 };
}

/* The sample waits for the call to return. */
static __always_inline void expect(struct pt_regs *regs, struct alloc_thread *t, __u32 how,
				   const struct prof_count *key)
{
	t->live = (struct alloc_live){ .time_ns = bpf_ktime_get_ns(),
				       .pid = key->pid,
				       .tid = key->tid,
				       .ustack = key->ustack,
				       .size = key->chain };
	__builtin_memcpy(t->live.comm, key->comm, sizeof(t->live.comm));
	t->out = ALLOC_FLAGS(how) & ALLOC_IS_STORED ? PT_REGS_PARM1(regs) : 0;
	t->sp = REGS_SP(regs);
}

enum returns { UNSEEN, SEEN_IF_SAMPLED, SEEN_ALWAYS };

static __always_inline __u32 sample(struct pt_regs *regs, struct alloc_thread *t, __u32 how,
				    __u64 size, enum returns returns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct prof_count key = { .pid = task->tgid, .tid = task->pid, .chain = ALLOC_CODE(size) };
	struct scratch *s;
	__u32 scratch, outcome;

	comm_copy(key.comm, task->comm);
	outcome = filter_current(task, key.pid, key.tid, key.comm);
	if (outcome)
		return outcome;
	s = take_scratch(&scratch);
	if (!s)
		return PROF_LOST_SCRATCH;
	scratch_begin(s);
	s->called = 0;
	UNWIND_FROM(s, regs);
	outcome = PROF_LOST_STACKS;
	if (stacks_user(scratch, s, STATUS_IS_COMPAT(REGS_STATUS(regs)) ? UNWIND_END_COMPAT : 0,
			&key.ustack)) {
		s->key = key;
		outcome = arena_count(scratch, size) ? PROF_RECORDED : PROF_LOST_COUNTS;
	}
	give_scratch(s);
	if (returns && outcome == PROF_RECORDED)
		expect(regs, t, how, &key);
	return outcome;
}

static __always_inline struct alloc_thread *thread(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct alloc_thread *t = bpf_task_storage_get(&alloc_threads, task, 0, 0);

	if (t)
		return t;
	t = bpf_task_storage_get(&alloc_threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (t)
		t->left = draw();
	return t;
}

#define STACK_REACH (1u << 20) /* further apart, stack pointers are of different stacks */
#define LONG_NS	    1000000000ull

/*
 * Of the sampled call that has not returned. One that was left by an exception or longjmp(), or at
 * an instruction that is not probed, never does; after a second nobody waits for it any more.
 */
static __always_inline bool is_within(struct pt_regs *regs, const struct alloc_thread *t)
{
	return t->sp && t->sp - REGS_SP(regs) - 1 < STACK_REACH &&
	       bpf_ktime_get_ns() - t->live.time_ns < LONG_NS;
}

/* At a function's first instruction. */
static __always_inline __u64 caller_of(struct pt_regs *regs)
{
	__u64 caller = PT_REGS_RET(regs);

#ifdef bpf_target_x86
	if (bpf_probe_read_user(&caller, sizeof(caller), (void *)caller))
		return 0;
#endif
	return caller;
}

/*
 * The C library's realloc(NULL, size) jumps to malloc(size), which returns where realloc() would
 * have: one call. One that is sampled may have the address of a trampoline to return to by now.
 */
static __always_inline bool goes_on(struct pt_regs *regs, const struct alloc_thread *t, __u64 size)
{
	__u64 sp = REGS_SP(regs);

	return t->grown.sp == sp && t->grown.size == size && t->grown.ip != PT_REGS_IP(regs) &&
	       (t->grown.is_seen || t->sp == sp || t->grown.caller == caller_of(regs));
}

/* What became of the call. grows: it is a realloc(NULL). */
static __always_inline __u32 begins(struct pt_regs *regs, __u32 how, __u64 size, bool grows,
				    enum returns returns)
{
	struct alloc_thread *t = thread();
	bool same;

	if (!t)
		return PROF_LOST_THREAD;
	if (is_within(regs, t))
		return PROF_FILTER_NESTED;
	same = t->grown.sp && goes_on(regs, t, size);
	t->grown.sp = 0;
	if (same)
		return PROF_FILTER_NESTED;
	if (grows)
		t->grown = (struct grown){ .sp = REGS_SP(regs),
					   .caller = caller_of(regs),
					   .ip = PT_REGS_IP(regs),
					   .size = size,
					   .is_seen = returns == SEEN_ALWAYS };
	if (t->sp)
		counters_add(PROF_LIVE_MISSED);
	t->sp = 0;
	if (size >= ALLOC_MOST)
		return PROF_FILTER_FAILED;
	t->left -= size;
	if (t->left > 0 || !size)
		return PROF_FILTER_EVERY;
	t->left = draw();
	return sample(regs, t, how, size, returns);
}

/* Where threads preempt each other too. */
static __always_inline void add(struct prof_counters *row, __u32 counter, __u64 nr)
{
	__sync_fetch_and_add(&row->value[counter % PROF_COUNTER_SLOTS], nr);
}

/*
 * What is freed is in use no more. Whether realloc() fails, which leaves it as it was, is seen when
 * it returns: true if that is to be seen.
 */
static __always_inline bool frees(struct pt_regs *regs, __u32 how, const struct arguments *a,
				  enum returns returns)
{
	struct alloc_key key = key_of(pick(a, ALLOC_FREED(how)));
	/* To look takes no lock, and few of those that are freed were sampled. */
	const struct alloc_live *live = bpf_map_lookup_elem(&allocs_live, &key);
	struct alloc_thread *t = NULL;

	if (!live)
		return false;
	if (returns && ALLOC_SIZE(how) && pick(a, ALLOC_SIZE(how)))
		t = bpf_task_storage_get(&alloc_threads, bpf_get_current_task_btf(), 0, 0);
	if (t) {
		t->moves_sp = REGS_SP(regs);
		t->moved_from = key.address;
		t->moved = *live;
	}
	bpf_map_delete_elem(&allocs_live, &key);
	return t;
}

static __always_inline int enter(struct pt_regs *ctx, enum returns returns)
{
	struct prof_counters *row = counters_row();
	__u32 how = bpf_get_attach_cookie(ctx) >> 32;
	struct arguments a;
	__u32 outcome = 0;
	bool moves = false;
	__u64 start;

	if (!row || *(volatile __u32 *)&alloc_paused)
		return 0;
	start = run_begins(row);
	row->value[PROF_DEAR_RUNS] += !!(ALLOC_FLAGS(how) & ALLOC_IS_DEAR);
	read_arguments(ctx, how, &a);
	if (alloc_cfg.live_slots && ALLOC_FREED(how))
		moves = frees(ctx, how, &a, returns);
	if (ALLOC_SIZE(how)) {
		outcome = begins(ctx, how, size_of(&a, how),
				 ALLOC_FREED(how) && !pick(&a, ALLOC_FREED(how)), returns);
		add(row, PROF_SEEN, 1);
		add(row, outcome, 1);
	}
	run_ends(row, start);
	return moves || outcome == PROF_RECORDED; /* whose address is not known yet */
}

__hidden int alloc_entered(struct pt_regs *ctx)
{
	return enter(ctx, alloc_cfg.live_slots ? SEEN_ALWAYS : UNSEEN);
}

__hidden int alloc_called(struct pt_regs *ctx)
{
	return enter(ctx, SEEN_IF_SAMPLED);
}

/* A second count of the same stack. Without room for it the call stays recorded. */
static __always_inline void take_back(const struct alloc_live *live)
{
	struct prof_counters *row = counters_row();
	struct scratch *s;
	__u32 scratch;

	s = row ? take_scratch(&scratch) : NULL;
	if (!s)
		return;
	s->key = (struct prof_count){ .pid = live->pid,
				      .tid = live->tid,
				      .ustack = live->ustack,
				      .chain = live->size,
				      .wait = PROF_WAIT_OF_EVENT(ALLOC_FAILED_EVENT) };
	__builtin_memcpy(s->key.comm, live->comm, sizeof(live->comm));
	if (arena_count(scratch, ALLOC_BYTES(live->size))) {
		add(row, PROF_RECORDED, -1);
		add(row, PROF_FILTER_FAILED, 1);
	}
	give_scratch(s);
}

static __always_inline void keep(__u64 address, const struct alloc_live *live)
{
	struct alloc_key key = key_of(address);

	if (bpf_map_update_elem(&allocs_live, &key, live, BPF_ANY))
		counters_add(PROF_LIVE_FULL);
}

static __always_inline bool is_jump(struct pt_regs *ctx)
{
	return ALLOC_FLAGS(bpf_get_attach_cookie(ctx) >> 32) & ALLOC_IS_JUMP;
}

/* The stack pointer as it was at the entry. */
static __always_inline void ends(struct pt_regs *ctx, __u64 sp)
{
	struct alloc_thread *t =
		bpf_task_storage_get(&alloc_threads, bpf_get_current_task_btf(), 0, 0);
	__u64 address = PT_REGS_RC(ctx);

	if (alloc_cfg.live_slots && t && t->moves_sp && t->moves_sp == sp) {
		t->moves_sp = 0;
		if (!address && !is_jump(ctx))
			keep(t->moved_from, &t->moved);
	}
	if (t && t->grown.sp == sp) {
		if (is_jump(ctx))
			return; /* malloc() may return it */
		t->grown.sp = 0;
	}
	if (!t || !t->sp || t->sp != sp)
		return;
	t->sp = 0;
	if (is_jump(ctx)) {
		counters_add(PROF_LIVE_MISSED);
		return;
	}
	if (t->out && address) /* an error */
		address = 0;
	else if (t->out && bpf_probe_read_user(&address, sizeof(address), (void *)t->out))
		return;
	if (!address || address == MAP_FAILED) {
		take_back(&t->live);
		return;
	}
	if (alloc_cfg.live_slots)
		keep(address, &t->live);
}

/* Where it was called: its return address is gone. */
__hidden int alloc_returned(struct pt_regs *ctx)
{
	ends(ctx, REGS_SP(ctx) - RETURN_ADDRESS_BYTES);
	return 0;
}

/* At its return instruction, which has not been executed yet. */
__hidden int alloc_left(struct pt_regs *ctx)
{
	ends(ctx, REGS_SP(ctx));
	return 0;
}
