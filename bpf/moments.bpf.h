/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When something was counted: with prof_cfg.moment_slots. */
#ifndef BPFPROF_BPF_MOMENTS_BPF_H
#define BPFPROF_BPF_MOMENTS_BPF_H

#include "threads.bpf.h"

/* That weight was added to a count, by its slot + 1; it ended so many ns ago. */
__hidden void moments_add(__u32 count, __u64 weight, __u64 ago);
/* The same, by when it ended. */
__hidden void moments_put(__u32 count, __u64 weight, __u64 end);

/*
 * With prof_cfg.long_wait_ns, a wait of t is over, the last queued ns of off for a CPU: what is
 * needed to know where waits of that length were, and between which times the thread waited for
 * events at least so often. All that are as long are told, others as often as twice in that time,
 * and of those for events the last one before others.
 */
int moments_wait(struct thread *t, __u32 count, __u32 count_woken, __u64 off, __u64 queued);
/* Nothing follows. */
int moments_end(struct thread *t, __u64 end);

#endif
