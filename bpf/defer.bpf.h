/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks that user space has to walk, since something that the walk needs is only known there. */
#ifndef BPFPROF_BPF_DEFER_BPF_H
#define BPFPROF_BPF_DEFER_BPF_H

#include "arena.bpf.h"

/*
 * Takes registers and stack of the current thread instead of frames: scratch->user becomes a stack
 * of kind DEFERRED. Without a free slot it stays what it is, a walk that ended. Separately
 * verified.
 */
int defer_walk(__u32 id);

/*
 * The same of a thread that sleeps: only its registers, since its memory is for user space to read.
 * Without a free slot it is an empty stack.
 */
__hidden void defer_task(struct scratch *s, struct task_struct *task);

#endif
