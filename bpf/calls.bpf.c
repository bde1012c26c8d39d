/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of functions, and tracepoints: how many, by whom, with which arguments, from where, and
 * how long they took.
 *
 * A call that is timed is open from its entry to its return (open_calls.bpf.h).
 *
 * Programs at functions of programs may be preempted by another thread that runs into one too, so
 * each takes a scratch for itself; where the kernel lets programs forbid it, they are not
 * preempted at all (kernel_preempt_off() says why that matters).
 */
#include "call_rows.bpf.h"
#include "claim.bpf.h"
#include "comm.bpf.h"
#include "filter.bpf.h"
#include "guarded.bpf.h"
#include "hist.h"
#include "kernel.bpf.h"
#include "open_calls.bpf.h"
#include "polls.bpf.h"
#include "stacks.bpf.h"

const volatile struct call_config call_cfg = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call_hist);
} call_hists SEC(".maps");

/*
 * Where a count is looked for first, by thread and event: slots + 1. What lies there says itself
 * whether it is the one.
 */
#define NR_HINTS 1024u /* a power of two */
static __u32 hints[NR_HINTS];

/* Stacks. */

static __always_inline __u32 take_user(struct pt_regs *regs, bool in_user, __u32 id,
				       struct scratch *s, struct task_struct *task, __u32 *slot)
{
	__u32 bad = UNWIND_END_NONE;

	if (prof_cfg.no_ustacks || !stacks_has_user(task))
		return 0;
	if (in_user) {
		UNWIND_FROM(s, regs);
		bad = STATUS_IS_COMPAT(REGS_STATUS(regs)) ? UNWIND_END_COMPAT : UNWIND_END_NONE;
	} else if (!unwind_regs_saved(s, task)) {
		bad = UNWIND_END_READ;
	}
	return stacks_user(id, s, bad, slot) ? 0 : PROF_LOST_STACKS;
}

/* The same in the kernel, behind the function at called, if that has just returned. */
static __always_inline bool take_kernel(void *ctx, __u32 id, struct scratch *s, __u64 called,
					__u32 *slot)
{
	long bytes;

	if (!called)
		return stacks_kernel(ctx, id, s, slot);
	bytes = bpf_get_stack(ctx, &s->kernel.frames[1], (PROF_MAX_KFRAMES - 1) * 8, 0);
	if (bytes < 0)
		bytes = 0;
	s->kernel.frames[0] = called;
	return stacks_kernel_of(id, s, (__u32)bytes / 8 + 1, slot);
}

/*
 * Both halves; regs are NULL at tracepoints. called: the function that has just returned, 0 = none.
 * Why they are lost, or 0.
 */
static __always_inline __u32 take_stacks(void *ctx, struct pt_regs *regs, __u32 id,
					 struct scratch *s, __u64 called, struct prof_count *key)
{
	struct task_struct *task = bpf_get_current_task_btf();
	bool in_user = regs && STATUS_IS_USER(REGS_STATUS(regs));

	s->called = in_user ? called : 0;
	if (!in_user && !prof_cfg.no_kstacks && !take_kernel(ctx, id, s, called, &key->kstack))
		return PROF_LOST_STACKS;
	return take_user(regs, in_user, id, s, task, &key->ustack);
}

static __always_inline void begin_key(struct prof_count *key, __u64 cookie)
{
	struct task_struct *task = bpf_get_current_task_btf();

	key->pid = task->tgid;
	key->tid = task->pid;
	key->wait = PROF_WAIT_OF_EVENT(CALL_EVENT(cookie));
	comm_copy(key->comm, task->comm);
}

static __always_inline bool is_left_out(void)
{
	return call_cfg.every > 1 && bpf_get_prandom_u32() % call_cfg.every;
}

static __always_inline __u32 filter(struct task_struct *task)
{
	char comm[PROF_COMM_LEN] __attribute__((aligned(8))) = "";
	__u32 outcome;

	if (prof_cfg.filter_comm)
		comm_copy(comm, task->comm);
	outcome = filter_current(task, task->tgid, task->pid, comm);
	return outcome || !is_left_out() ? outcome : PROF_FILTER_EVERY;
}

/* Counting: calls are not timed. */

static __always_inline bool is_of(const struct prof_count *c, struct task_struct *task, __u32 wait)
{
	const __u64 *comm = (const __u64 *)c->comm, *name = (const __u64 *)task->comm;

	return c->hash && c->tid == task->pid && c->pid == task->tgid && c->wait == wait &&
	       comm[0] == name[0] && comm[1] == name[1];
}

static __always_inline __u32 *hint_of(struct task_struct *task, __u32 wait)
{
	return &hints[hash_mix(task->pid, wait) & (NR_HINTS - 1)];
}

/* Counts a call of which nothing else is asked, if its count is where it is looked for first. */
static __always_inline bool count_hinted(struct task_struct *task, __u64 cookie)
{
	__u32 wait = PROF_WAIT_OF_EVENT(CALL_EVENT(cookie)), hint;
	struct prof_count *c;

	if (!call_cfg.counts_only)
		return false;
	hint = *hint_of(task, wait);
	c = arena_count_at(hint);
	if (!c || !arena_is_current(hint) || !is_of(c, task, wait))
		return false;
	__sync_fetch_and_add(&c->samples, 1);
	__sync_fetch_and_add(&c->weight, call_cfg.every);
	return true;
}

static __always_inline __u32 count_anew(void *ctx, struct pt_regs *regs, __u64 cookie)
{
	struct prof_count key = {};
	__u32 id, outcome = 0, count;
	struct scratch *s;

	begin_key(&key, cookie);
	s = take_scratch(&id);
	if (!s)
		return PROF_LOST_SCRATCH;
	scratch_begin(s);
	*(volatile __u64 *)&s->ctx_at = (__u64)ctx;
	if (call_cfg.value_slots)
		key.chain = calls_values(id, CALL_ARGS(cookie), false, 0);
	if (call_cfg.value_slots && !key.chain)
		outcome = PROF_LOST_ROWS;
	if (!outcome)
		outcome = take_stacks(ctx, regs, id, s, 0, &key);
	if (!outcome) {
		s->key = key;
		count = arena_claim(id);
		outcome = count ? PROF_RECORDED : PROF_LOST_COUNTS;
		arena_add(count, call_cfg.every);
		*hint_of(bpf_get_current_task_btf(), key.wait) = count;
	}
	give_scratch(s);
	return outcome;
}

static __always_inline __u32 count(void *ctx, struct pt_regs *regs, __u64 cookie)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 outcome;

	outcome = filter(task);
	if (outcome)
		return outcome;
	return count_hinted(task, cookie) ? PROF_RECORDED : count_anew(ctx, regs, cookie);
}

/* Timing. */

/* A call begins. Why it is not timed, or 0: then its return counts it. */
static __always_inline __u32 open(void *ctx, struct pt_regs *regs, __u64 cookie)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct open_call call = { .event = CALL_EVENT(cookie), .pc = regs ? REGS_PC(regs) : 0 };
	struct caller caller = {};
	struct scratch *s;
	__u32 id, outcome;

	outcome = filter(task);
	if (outcome)
		return outcome;
	find_caller(&caller, regs, cookie, 0);
	call.sp = caller.sp;
	if (call_cfg.value_slots) {
		s = take_scratch(&id);
		if (!s)
			return PROF_LOST_SCRATCH;
		*(volatile __u64 *)&s->ctx_at = (__u64)ctx;
		call.values = calls_values(id, CALL_ARGS(cookie), false, 0);
		give_scratch(s);
	}
	return calls_begin(&caller, &call);
}

static __always_inline void add_to(struct prof_hist *hist, __u64 ns)
{
	__sync_fetch_and_add(&hist->count[prof_hist_index(ns)], 1);
	__sync_fetch_and_add(&hist->sum_ns, ns);
	if (ns > hist->max_ns)
		hist->max_ns = ns;
}

__hidden void calls_hist_add(__u32 slot, __u64 ns)
{
	__u32 at = slot - 1;
	struct call_hist *h = call_cfg.hist_rows ? bpf_map_lookup_elem(&call_hists, &at) : NULL;

	if (h)
		add_to(&h->hist, ns);
}

__noinline int calls_hist(__u32 event, __u32 values, __u64 ns)
{
	__u32 pid = call_cfg.by_process ? bpf_get_current_pid_tgid() >> 32 : 0;
	__u64 hash = hash_mix(prof_cfg.seed, event | (__u64)values << 32);
	/* One half is for calls without values: however many values there are, these find room. */
	__u32 slot, rows = call_cfg.hist_rows >> (call_cfg.may_lack && values);
	struct call_hist *h;
	bool mine;

	if (!call_cfg.hist_rows)
		return 0;
	hash = hash_mix(hash, bpf_get_smp_processor_id() | (__u64)pid << 32);
	hash += !hash;
	h = arena_find(&call_hists, rows, hash, &slot, &mine);
	if (!h)
		return 0;
	if (mine) {
		h->event = event;
		h->values = values;
		h->pid = pid;
		if (pid)
			comm_copy(h->comm, bpf_get_current_task_btf()->comm);
	}
	add_to(&h->hist, ns);
	return slot;
}

/* used: what it was added to, if it was recorded. */
static __always_inline __u32 record(void *ctx, struct pt_regs *regs, __u64 cookie,
				    const struct open_call *call, __u64 ns, struct call_rows *used)
{
	struct prof_count key = {};
	struct scratch *s;
	__u32 id, outcome = 0, values = call->values;

	if (ns < call_cfg.min_ns)
		return PROF_FILTER_SHORT;
	begin_key(&key, cookie);
	if (call_cfg.by_length)
		key.wait = PROF_WAIT_OF_CALL(CALL_EVENT(cookie), prof_hist_index(ns));
	s = take_scratch(&id);
	if (!s)
		return PROF_LOST_SCRATCH;
	scratch_begin(s);
	*(volatile __u64 *)&s->ctx_at = (__u64)ctx;
	if (call_cfg.value_slots && (!call_cfg.syscalls || CALL_ARGS(cookie))) {
		values = calls_values(id, CALL_ARGS(cookie), true, values);
		outcome = values || call_cfg.may_lack ? 0 : PROF_LOST_ROWS;
	}
	used->hist = outcome ? 0 : calls_hist(call->event, values, ns);
	if (!used->hist && call_cfg.may_lack) {
		values = 0;
		used->hist = calls_hist(call->event, values, ns);
	}
	if (!outcome && !used->hist)
		outcome = PROF_LOST_ROWS;
	key.chain = values;
	if (!outcome)
		outcome = take_stacks(ctx, regs, id, s, call->pc, &key);
	if (!outcome) {
		s->key = key;
		used->generation = scratch_generation(s);
		used->count = arena_claim(id);
		outcome = used->count ? PROF_RECORDED : PROF_LOST_COUNTS;
		arena_add(used->count, ns * call_cfg.every);
	}
	give_scratch(s);
	return outcome;
}

__hidden __u32 calls_record(void *ctx, __u64 cookie, const struct open_call *call, __u64 ns,
			    struct call_rows *used)
{
	return record(ctx, NULL, cookie, call, ns, used);
}

/* Threads may preempt each other here. */
static __always_inline void count_two(struct prof_counters *row, __u32 a, __u32 b)
{
	__sync_fetch_and_add(&row->value[a % PROF_COUNTER_SLOTS], 1);
	__sync_fetch_and_add(&row->value[b % PROF_COUNTER_SLOTS], 1);
}

/* A run of a program here. Its start as of run_begins(). */
static __always_inline __u64 run_of_call(struct prof_counters *row)
{
	if (prof_cfg.slow_poll_ns)
		row->value[PROF_POLL_RUNS]++;
	return run_begins(row);
}

/* Of slow polls, what passes within them is in the ledger, not they; but for their losses. */
static __always_inline bool is_accounted(__u32 outcome)
{
	return outcome && (!prof_cfg.slow_poll_ns || outcome >= PROF_LOST_STACKS);
}

/* Whether it was opened or counted. regs are NULL at tracepoints, as everywhere here. */
static __always_inline bool begins(void *ctx, struct pt_regs *regs, __u64 cookie)
{
	struct prof_counters *row = counters_row();
	__u64 start;
	__u32 outcome;

	if (!row)
		return false;
	start = run_of_call(row);
	outcome = call_cfg.hist_rows ? open(ctx, regs, cookie) : count(ctx, regs, cookie);
	if (is_accounted(outcome))
		count_two(row, PROF_SEEN, outcome);
	run_ends(row, start);
	return !outcome;
}

/* is_gone: its frame is, and the return address; else it is about to go. */
static __always_inline void ends(void *ctx, struct pt_regs *regs, __u64 cookie, bool is_gone)
{
	struct prof_counters *row = counters_row();
	__u64 now = bpf_ktime_get_ns(), start;
	struct open_call call = {};
	struct caller caller = {};
	struct call_rows used;
	__u32 closed;

	if (!row)
		return;
	start = run_of_call(row);
	find_caller(&caller, regs, cookie, is_gone ? RETURN_ADDRESS_BYTES : 0);
	closed = calls_close(&caller, CALL_EVENT(cookie), &call);
	if (closed && prof_cfg.slow_poll_ns) {
		polls_ends(&call, closed == 1, now);
	} else if (closed) {
		if (!is_gone)
			call.pc = 0;
		count_two(row, PROF_SEEN,
			  record(ctx, regs, cookie, &call, now - call.start, &used));
	}
	run_ends(row, start);
}

__hidden int calls_entered(struct pt_regs *ctx)
{
	bool is_sure = call_cfg.counts_only && call_cfg.one_event; /* to ask costs 15 ns */

	return begins(ctx, ctx, is_sure ? 0 : bpf_get_attach_cookie(ctx));
}

__hidden int calls_returned(struct pt_regs *ctx)
{
	ends(ctx, ctx, bpf_get_attach_cookie(ctx), true);
	return 0;
}

/* At an instruction that leaves the function, which has not been executed yet. */
__hidden int calls_left(struct pt_regs *ctx)
{
	ends(ctx, ctx, bpf_get_attach_cookie(ctx), false);
	return 0;
}

SEC("?tp")
int calls_event(void *ctx)
{
	begins(ctx, NULL, bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("?tp")
int calls_until(void *ctx)
{
	ends(ctx, NULL, bpf_get_attach_cookie(ctx), false);
	return 0;
}
