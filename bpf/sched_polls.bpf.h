/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs at the scheduler do with what they have measured: as usual it is added at once,
 * and with prof_cfg.slow_poll_ns to the poll that the thread is in.
 */
#ifndef BPFPROF_BPF_SCHED_POLLS_BPF_H
#define BPFPROF_BPF_SCHED_POLLS_BPF_H

#include "outcome.bpf.h"
#include "polls.bpf.h"
#include "waits.bpf.h"

/* A wait that is recorded is over. */
static __always_inline void wait_over(struct task_struct *task, struct thread *t, __u64 off,
				      __u64 queued)
{
	if (prof_cfg.slow_poll_ns)
		polls_wait(polls_of(task), t, off, queued);
	else
		wait_ends(t, off, queued);
}

/* It ran until now. */
static __always_inline void ran(struct thread *t, struct poll *p, __u64 now)
{
	if (prof_cfg.slow_poll_ns)
		polls_ran(SCRATCH_SCHED, p, t, now);
	else
		wait_ran(SCRATCH_SCHED, t, now - t->since);
}

/* It will not run again. */
static __always_inline void end_thread(struct prof_counters *row, struct thread *t, struct poll *p,
				       __u64 now)
{
	row_add(row, PROF_THREADS_GONE, 1);
	if (prof_cfg.slow_poll_ns)
		polls_cut(p, now);
	else if (prof_cfg.running)
		wait_lived(t, now, 1);
}

/* The recording has ended: what is in a slow poll that goes on is a part of it. */
static __always_inline void flush_poll(struct prof_counters *row, struct task_struct *task,
				       struct thread *t, __u64 ns)
{
	struct poll *p = polls_of(task);
	bool slow = p && polls_is_slow(p, prof_sched_end);

	if (t->state == THREAD_RUNS && slow && !t->outcome)
		polls_ran(SCRATCH_TASKS, p, t, prof_sched_end);
	if ((t->state == THREAD_WAITS || t->state == THREAD_BORN) &&
	    is_kept(row, slow || outcome_of(t, ns) ? outcome_of(t, ns) : PROF_FILTER_POLL, ns))
		wait_is_open(t, ns);
	polls_cut(p, prof_sched_end);
}

#endif
