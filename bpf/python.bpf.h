/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of CPython on the kernel's side, behind the native ones of a stack (python.h). */
#ifndef BPFPROF_BPF_PYTHON_BPF_H
#define BPFPROF_BPF_PYTHON_BPF_H

#include "arena.bpf.h"

/* A wait with more is not remembered: to follow them once more would take as long as a walk. */
#define PYTHON_REMEMBERED 64u

/*
 * Appends the frames of the current thread to scratch->user, as scratch->python says how, until
 * that has python_end. Only the chain of frames is followed: what they are called is for user space
 * to find out. Separately verified.
 */
int python_walk(__u32 id);

/* No walk is remembered before it is known whether it has such frames. */
static __always_inline void python_note(struct scratch *s)
{
	if (s->python == PYTHON_UNKNOWN)
		s->nr_reads = READ_ELSEWHERE;
}

#endif
