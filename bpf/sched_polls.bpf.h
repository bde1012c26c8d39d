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

/* The same of one that is not recorded. */
static __always_inline void wait_dropped(struct task_struct *task, struct thread *t, __u64 off)
{
	if (prof_cfg.slow_poll_ns && t->state == THREAD_WAITS)
		polls_dropped(polls_of(task), t, off);
}

/* It will not run again. */
static __always_inline void end_thread(struct prof_counters *row, struct task_struct *task,
				       struct thread *t, __u64 now)
{
	row_add(row, PROF_THREADS_GONE, 1);
	if (prof_cfg.slow_poll_ns)
		polls_cut(SCRATCH_SCHED, polls_of(task), t, now);
	else if (prof_cfg.running)
		wait_lived(t, now, 1);
}

/*
 * The recording has ended: what is in a slow poll that goes on is a part of it. Who was in the
 * middle of something as the end was said is taken as of when that began.
 */
static __always_inline void flush_poll(struct prof_counters *row, struct task_struct *task,
				       struct thread *t)
{
	struct poll *p = polls_of(task);
	__u64 end = prof_sched_end > t->since ? prof_sched_end : t->since, ns = end - t->since;
	bool waits = t->state == THREAD_WAITS || t->state == THREAD_BORN;
	bool before = p && polls_waits_before(p, t); /* then it runs */
	__u32 outcome = outcome_of(t, ns);

	if (!outcome && (before || !p || !polls_is_slow(p, end)))
		outcome = PROF_FILTER_POLL;
	if (p && !t->outcome && (before || t->state == THREAD_RUNS))
		polls_ran(p, t, end);
	if (waits && is_kept(row, outcome, ns)) {
		wait_is_open(t, ns);
		__asm__ volatile("" : "+r"(p)); /* verifier (6.1): outcome says that there is one */
		if (p)
			p->waits_ns += ns;
	} else if (waits) {
		polls_dropped(p, t, ns);
	}
	polls_cut(SCRATCH_TASKS, p, t, end);
}

#endif
