/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of a wait: how it begins with its stack, and where its time goes when it ends. */
#ifndef BPFPROF_BPF_WAITS_BPF_H
#define BPFPROF_BPF_WAITS_BPF_H

#include "threads.bpf.h"

/* The current thread, which leaves its CPU: finds out what is counted for this wait. */
__hidden void wait_begins(void *ctx, struct task_struct *task, struct thread *t, __u64 now);

/* A wait is over: off ns, the last queued ns of them for a CPU. */
__hidden void wait_ends(struct thread *t, __u64 off, __u64 queued);

/* A thread ran for ns. With the scratch of that number. */
__hidden void wait_ran(__u32 id, struct thread *t, __u64 ns);

/* A wait that nobody will see the end of has come to off ns. */
__hidden void wait_is_open(struct thread *t, __u64 off);

/* A thread that has been waiting since before the recording. */
__hidden void wait_found(struct task_struct *task, struct thread *t);

/*
 * The current thread ends the wait of t, or an interrupt does: user space sees from the stack that
 * the thread had nothing to do with it.
 */
__hidden void wait_waker(void *ctx, struct thread *t);

#endif
