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
 * Gives back the slots of a stack of kind DEFERRED that found no room in the arena, so that user
 * space never hears of it. Separately verified.
 */
int defer_drop(__u32 id);

/*
 * Of a thread that sleeps: only the registers, which are in the scratch, since its stack is for
 * user space to read. scratch->user becomes a stack of kind SLEEPER, or without room its innermost
 * frame.
 */
__hidden void defer_sleeper(struct scratch *s, struct task_struct *task);

#endif
