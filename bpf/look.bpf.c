/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What threads are doing at the moment, for somebody who looks on while it is recorded: a wait is
 * counted when it ends, but one that has gone on for a minute is to be seen before. It only reads;
 * threads go on meanwhile, so who is seen between two states is left out, and seen the next time.
 * Wake-ups are timed by their tracepoint.
 */
#include "counters.bpf.h"
#include "threads.bpf.h"

static __always_inline bool is_shown(const struct thread *t)
{
	return !t->outcome && (t->state == THREAD_RUNS ||
			       ((t->state == THREAD_WAITS || t->state == THREAD_BORN) && !t->skip));
}

SEC("?iter/task")
int look_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t = task && task->pid ? thread_get(task) : NULL;
	struct prof_look row = {};
	__u8 state;

	/* The scheduler is still at one that leaves its CPU: its counts are those of before. */
	if (!t || !is_shown(t) || (t->state != THREAD_RUNS && kernel_is_running(task)))
		return 0;
	state = t->state;
	row.since = *(volatile __u64 *)&t->since;
	row.pid = t->pid;
	row.tid = t->tid;
	row.wait = PROF_WAIT(PROF_RUNNING, 0, -1);
	row.count = t->count_run;
	if (state != THREAD_RUNS) {
		row.wait = t->wait;
		row.count = t->count;
		row.count_woken = t->count_woken;
		row.ustack = t->ustack;
		row.kstack = t->kstack;
		if (PROF_WAIT_KIND(row.wait) == PROF_BLOCKED)
			row.woken_ns = t->woken_ns;
	}
	__builtin_memcpy(row.comm, t->comm, PROF_COMM_LEN);
	if (*(volatile __u64 *)&t->since == row.since && *(volatile __u8 *)&t->state == state)
		bpf_seq_write(ctx->meta->seq, &row, sizeof(row));
	return 0;
}
