/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What passes within slow polls of Tokio's tasks, with prof_cfg.slow_poll_ns. Whether a poll is
 * slow is known when it ends, so what its thread waits for and runs is kept with the thread until
 * then, and counted or dropped as a whole. Polls within polls are parts of the outer one.
 */
#ifndef BPFPROF_BPF_POLLS_BPF_H
#define BPFPROF_BPF_POLLS_BPF_H

#include "open_calls.bpf.h"
#include "threads.bpf.h"

#define POLL_PARTS 32 /* places at which it waits or is sampled before it is slow */

/*
 * The poll that a thread is in. Its thread may be preempted wherever the programs at polls are, so
 * what those at the scheduler do until end is set is a part of it, and afterwards nothing.
 */
struct poll {
	__u64 start; /* 0 = in none */
	__u64 end;   /* 0 = not yet */
	__u64 since; /* since when it ran until the end, if it has left its CPU after that; or 0 */
	__u32 event, values; /* of its open call */
	__u32 nr;	     /* of v */
	__u32 busy;	     /* who interrupts a change of it lets it alone */
	__u32 waits, samples, lost;
	__u32 pad;
	__u64 run_ns, waits_ns, lost_ns; /* its time, as far as the kernel reports switches */
	__u64 dropped_ns;	    /* waits that were lost by themselves, and are in the ledger */
	__u64 added_ns, sampled_ns; /* waits and samples that were counted before its end */
	struct poll_part {
		__u32 count; /* of the arena: slot + 1 */
		__u32 nr;
		__u64 ns;
	} v[POLL_PARTS];
};

extern __u64 prof_sched_end;

/* The recording is over: programs that are still attached change nothing any more. */
static __always_inline bool polls_are_over(void)
{
	return prof_cfg.slow_poll_ns && *(volatile __u64 *)&prof_sched_end;
}

static __always_inline bool polls_is_slow(const struct poll *p, __u64 now)
{
	return (__s64)(now - p->start) >= (__s64)prof_cfg.slow_poll_ns;
}

/* NULL: the thread is in none. One that has come to its end may still be there. */
__hidden struct poll *polls_of(struct task_struct *task);

static __always_inline bool polls_goes_on(const struct poll *p)
{
	return p && !*(volatile const __u64 *)&p->end;
}

/* Does the thread wait since before its poll? Then it runs, and nobody said that it had a CPU. */
static __always_inline bool polls_waits_before(const struct poll *p, const struct thread *t)
{
	return (__s64)(t->since - p->start) < 0;
}

/*
 * The current thread begins the poll of a call, which is in no other, and the call starts then.
 * False: there is no memory.
 */
__hidden bool polls_begin(struct open_call *call);

/* All of these are separately verified. A poll of the current thread returns. */
int polls_ends(struct open_call *call, __u32 outer, __u64 now);

/* It will not return, or nobody will see it. With the scratch of that number. */
int polls_cut(__u32 id, struct poll *p, struct thread *t, __u64 now);

/*
 * What the thread of a poll (NULL: it is in none) did: as wait_ends(), the same of a wait that is
 * not recorded, and until now it ran.
 */
int polls_wait(struct poll *p, struct thread *t, __u64 off, __u64 queued);
int polls_dropped(struct poll *p, struct thread *t, __u64 off);
int polls_ran(struct poll *p, struct thread *t, __u64 now);

/*
 * The current thread leaves its CPU; ran: it ran until now. Is it in a poll that goes on? verifier:
 * so what the caller does next is looked at once, and not with and without a poll.
 */
int polls_leave_cpu(struct thread *t, __u64 now, __u32 ran);

/* The current thread, which nobody said had been given a CPU: for how long it ran at least. */
__u64 polls_ran_least(struct thread *t, __u64 now);

/* It was sampled. An outcome, 0: it is known when the poll ends. */
int polls_sample(struct poll *p, __u32 count, __u64 weight);

#endif
