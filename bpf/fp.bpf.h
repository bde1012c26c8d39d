/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack's window, and the walk by frame pointers alone (--call-graph fp). */
#ifndef BPFPROF_BPF_FP_BPF_H
#define BPFPROF_BPF_FP_BPF_H

#include "arena.bpf.h"

#define WINDOW_BYTES 512u
#define PAGE_BYTES   4096u /* the smallest page of any kernel we run on */

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
 * Notes a word of the stack that the walk went by, for memo.bpf.h. Loops load what they need of
 * prof_cfg before they begin: each look at it takes up to six instructions.
 */
static __always_inline void note_read(struct scratch *s, bool remember, __u64 at)
{
	__u64 offset, word;
	__u32 nr;
	__s32 more;

	if (!remember) /* before anything is loaded */
		return;
	offset = at - s->sp;
	word = offset >> 3 | offset << 61; /* huge if it is no whole number of words */
	nr = s->nr_reads;
	if (word >= READ_REACH || nr >= READ_WORDS) {
		s->nr_reads = READ_ELSEWHERE;
		return;
	}
	s->reads[nr & (READ_SLOTS - 1)] = word;
	more = (__u32)word + 1 - s->read_span;
	asm volatile("" : "+r"(more)); /* verifier: no branch here */
	s->read_span += more & ~(more >> 31);
	s->nr_reads = nr + 1;
}

/* The walk needs the frame pointer: the register, unless a frame has kept it on the stack. */
static __always_inline void note_fp(struct scratch *s, bool remember)
{
	if (remember && s->fp_from == FP_UNUSED)
		s->fp_from = s->at.fp_at ? FP_STACK : FP_REGISTER;
}

/*
 * Copies the stack from an address on, up to the end of its page but at least one word, into
 * scratch->window. Nonzero: not readable.
 */
__hidden int unwind_window(struct scratch *s, __u64 at);

/* Walks from scratch->at on, the scratch of that number; returns the reason of the end. */
__hidden __u32 fp_walk(struct scratch *s, __u32 id);

#endif
