/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls: all of them, through two programs that all threads of the machine run into. What is
 * not selected leaves at once, and is not counted. Of 32-bit processes nothing is known.
 *
 * A thread has one call at a time, and makes the same few again and again. So it remembers which
 * rows its last calls were added to; where nothing has changed (its name, its CPU, the arena's
 * generation), a call that returns adds to them, and looks for nothing.
 */
#include "call_rows.bpf.h"
#include "comm.bpf.h"
#include "filter.bpf.h"

#define KINDS 4 /* of calls that a thread remembers the rows of: a power of two */

struct known {
	__u64 kind; /* number + 1, and the error above; 0 = nothing is known */
	__u64 hash; /* of the count, which is emptied with its generation */
	struct call_rows rows;
	__u32 cpu;
};

struct syscall_state {
	__u64 start;
	__u64 nr;      /* of the call that is open, + 1; 0 = none is */
	__u64 kind;    /* of the one that returned last, as of struct known */
	__u64 name[2]; /* of the thread, when rows were found */
	struct known known[KINDS];
};

/* Made at a thread's first call, as open_calls is. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct syscall_state);
} syscall_states SEC(".maps");

static __always_inline bool is_selected(struct task_struct *task, __u64 nr)
{
	char comm[PROF_COMM_LEN] __attribute__((aligned(8))) = "";

	if (nr >= call_cfg.syscalls || nr == SYSCALL_SIGRETURN) /* its exit has no number */
		return false;
	if (prof_cfg.filter_comm)
		comm_copy(comm, task->comm);
	return !filter_current(task, task->tgid, task->pid, comm);
}

/* Threads preempt each other here. */
static __always_inline void count(struct prof_counters *row, __u32 counter)
{
	__sync_fetch_and_add(&row->value[counter % PROF_COUNTER_SLOTS], 1);
}

static __always_inline void count_two(struct prof_counters *row, __u32 a, __u32 b)
{
	count(row, a);
	count(row, b);
}

/* ctx: registers, number. */
SEC("?tp_btf/sys_enter")
int calls_sysenter(__u64 *ctx)
{
	/* As at the exit, where 32-bit calls have no number: the ABI's numbers are others. */
	__u32 nr = REGS_SYSCALL((struct pt_regs *)ctx[0]);
	struct task_struct *task = bpf_get_current_task_btf();
	struct syscall_state *t;
	struct prof_counters *row;

	if (!is_selected(task, nr))
		return 0;
	row = counters_row();
	if (!row)
		return 0;
	t = bpf_task_storage_get(&syscall_states, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		count_two(row, PROF_SEEN, PROF_LOST_THREAD);
		return 0;
	}
	if (t->nr) { /* it never returned: a signal's, an exec's */
		count_two(row, PROF_SEEN, PROF_LOST_RETURN);
		count(row, PROF_ENDED);
	}
	t->nr = nr + 1;
	count(row, PROF_BEGUN);
	t->start = bpf_ktime_get_ns();
	return 0;
}

/* Nothing is known any more of a thread that was renamed. */
static __always_inline void check_name(struct syscall_state *t, struct task_struct *task)
{
	const __u64 *name = (const __u64 *)task->comm;

	if (t->name[0] == name[0] && t->name[1] == name[1])
		return;
	for (int i = 0; i < KINDS; i++)
		t->known[i].kind = 0;
	t->name[0] = name[0];
	t->name[1] = name[1];
}

/* Adds to the rows that are known for calls of that kind. False: they are not. */
static __always_inline bool add_known(const struct known *k, __u64 kind, __u64 ns)
{
	struct prof_count *c;

	if (k->kind != kind || k->cpu != bpf_get_smp_processor_id() ||
	    (prof_cfg.two_generations && k->rows.generation != prof_generation))
		return false;
	c = arena_count_at(k->rows.count);
	if (!c || c->hash != k->hash)
		return false;
	calls_hist_add(k->rows.hist, ns);
	__sync_fetch_and_add(&c->samples, 1);
	__sync_fetch_and_add(&c->weight, ns);
	return true;
}

static __always_inline __u32 find_rows(void *ctx, struct known *k, __u64 kind, __u64 ns)
{
	__u32 nr = (__u32)kind - 1, outcome;
	struct open_call call = { .event = nr };
	struct prof_count *c;

	k->kind = 0;
	outcome = calls_record(ctx, CALL_COOKIE(nr & (CALL_MAX_EVENTS - 1), kind >> 32 != 0), &call,
			       ns, &k->rows);
	c = outcome == PROF_RECORDED ? arena_count_at(k->rows.count) : NULL;
	if (!c)
		return outcome;
	k->hash = c->hash;
	k->cpu = bpf_get_smp_processor_id();
	k->kind = kind;
	return outcome;
}

static __always_inline __u32 returned(void *ctx, struct syscall_state *t, __u64 kind, __u64 ns)
{
	struct known *k = &t->known[(kind ^ kind >> 32) & (KINDS - 1)];
	bool no_stacks = prof_cfg.no_kstacks && prof_cfg.no_ustacks;

	if (ns < call_cfg.min_ns)
		return PROF_FILTER_SHORT;
	if (no_stacks && add_known(k, kind, ns))
		return PROF_RECORDED;
	return find_rows(ctx, k, kind, ns);
}

/* ctx: registers, what is returned. */
SEC("?tp_btf/sys_exit")
int calls_sysexit(__u64 *ctx)
{
	__u32 nr = REGS_SYSCALL((struct pt_regs *)ctx[0]);
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 error = ctx[1] >= -(__u64)CALL_MAX_ERROR ? -ctx[1] : 0, runs, now;
	struct syscall_state *t;
	struct prof_counters *row;

	if (!is_selected(task, nr))
		return 0;
	t = bpf_task_storage_get(&syscall_states, task, 0, 0);
	row = counters_row();
	if (!row || !t || t->nr != nr + 1)
		return 0;
	now = bpf_ktime_get_ns();
	runs = row->value[PROF_RUNS]++;
	t->nr = 0;
	/* verifier: read back, or all that follows is looked at for errors, and for others. */
	t->kind = (nr + 1) | error << 32;
	check_name(t, task);
	count_two(row, PROF_ENDED, PROF_SEEN);
	count(row, returned(ctx, t, *(volatile __u64 *)&t->kind, now - t->start));
	run_ends(row, runs % TIME_EVERY ? 0 : now);
	return 0;
}
