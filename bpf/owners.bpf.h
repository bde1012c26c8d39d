/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What threads do that may hold locks, by the number that stands in these: with
 * prof_cfg.lock_slots. To find a thread by its number in the kernel, and then its state, takes four
 * times as long. Who is not in it has to be looked for there.
 */
#ifndef BPFPROF_BPF_OWNERS_BPF_H
#define BPFPROF_BPF_OWNERS_BPF_H

#include "threads.bpf.h"

/*
 * The current thread t leaves its CPU and is followed; stacks: those in t are of this wait. Each of
 * these is separately verified.
 */
int owners_wait(struct thread *t, int stacks);

/* t has a CPU again. */
int owners_run(struct thread *t);

/* t has ended, is another thread from now on, or is no longer followed. */
int owners_leave(struct thread *t);

/* Whether scratch->lock has got the thread of its process that it says is its owner. */
int owners_find(__u32 id);

#endif
