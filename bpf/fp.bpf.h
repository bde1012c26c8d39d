/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack's window, and the walk by frame pointers alone (--call-graph fp). */
#ifndef BPFPROF_BPF_FP_BPF_H
#define BPFPROF_BPF_FP_BPF_H

#include "arena.bpf.h"

#define WINDOW_BYTES 512u

/*
 * A word of the window at a byte offset that is known to lie in it. verifier: 6.12 forgets what it
 * knew, so the mask has to be there, and clang must not see that it changes nothing.
 */
static __always_inline __u64 window_word(const struct scratch *s, __u64 offset)
{
	asm volatile("" : "+r"(offset));
	return s->window[(offset / 8) & (WINDOW_BYTES / 8 - 1)];
}

/*
 * Copies the stack from an address on, up to the end of its page but at least one word, into
 * scratch->window. Nonzero: not readable. Separately verified.
 */
int unwind_window(__u32 id, __u64 at);

/* Walks from scratch->at on; returns the reason of the end. */
int fp_walk(__u32 id);

#endif
