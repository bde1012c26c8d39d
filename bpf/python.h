/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames of CPython, the contract between who finds out how a build of it keeps them (src/python)
 * and who follows them (bpf/python.bpf.c, and the same step on the host). Types and constants only.
 *
 *	thread --state--> PyThreadState --frame--> newest frame --previous--> ... --> oldest
 *	                                             |  |
 *	                                          code  instruction
 *
 * A frame becomes one word, behind the native ones of a user stack:
 *
 *	bits 60-63  PYTHON_FRAME, or PYTHON_LAST of the last one that one call of the evaluator
 *		    (_PyEval_EvalFrameDefault) runs
 *	bits 45-59  bytecode index, in units of two bytes; PYTHON_FAR = there or beyond
 *	bits 0-44   address of the code object / 8; 0 = it is no frame, but the mark of C's call
 *
 * The words of a stack end with PYTHON_WHOLE, unless frames could not be read or were too many.
 */
#ifndef BPFPROF_BPF_PYTHON_H
#define BPFPROF_BPF_PYTHON_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define PYTHON_FRAME	   (4ull << 60)
#define PYTHON_LAST	   (5ull << 60)
#define PYTHON_LAST_BIT	   (1ull << 60)
#define PYTHON_WHOLE	   (6ull << 60)
#define PYTHON_IS(word)	   ((word) >> 62 == 1)
#define PYTHON_INDEX_SHIFT 45
#define PYTHON_FAR	   0x7fffu
#define PYTHON_INDEX(word) ((word) >> PYTHON_INDEX_SHIFT & PYTHON_FAR)
#define PYTHON_CODE(word)  (((word) & ((1ull << PYTHON_INDEX_SHIFT) - 1)) << 3)

#define PYTHON_DIRECT 0x7fffffff
#define PYTHON_NONE   0xffffu
#define PYTHON_WORDS  16u /* of a frame that are looked at, at most */
#define PYTHON_ROWS   64u
/* In the place of a row: the process may have an interpreter, which has not been found so far. */
#define PYTHON_UNKNOWN 0xffffu

/*
 * Of a build of CPython and of the C library whose thread-local storage it uses. Nothing in it is
 * an address, so all processes of a build share a row. Row 0 is nobody's.
 */
struct python_layout {
	__s32 state;	 /* where a thread keeps its state, from its thread pointer on … */
	__s32 state_in;	 /* … or from what lies there; PYTHON_DIRECT: it lies there itself */
	__u16 newest;	 /* in the state: where the newest frame is … */
	__u16 newest_in; /* … or in what lies there; PYTHON_NONE: it is there itself */
	/* In a frame, all but entry whole words: */
	__u16 code, previous;
	__u16 at;	 /* of the instruction: its address, or until 3.10 its index in 4 bytes */
	__u16 entry;	 /* a byte that tells whether C called the evaluator for it */
	__u16 span;	 /* bytes that hold all of it, < 8 * PYTHON_WORDS */
	__u16 header;	 /* of a code object, before the instructions; 0 = at is an index */
	__u8 at_shift;	 /* 32: at is a number of 4 bytes */
	__u8 unit_shift; /* 1: it counts units of two bytes */
	/*
	 * C did if (entry & mask) == is. Until 3.10 each frame has a call of its own (0 == 0); 3.11
	 * says so in the frame, later ones in one behind it that has no code (is_shim).
	 */
	__u8 entry_mask, entry_is, is_shim;
	__u8 pad[3];
};
_Static_assert(sizeof(struct python_layout) == 32, "struct python_layout is part of the contract");

#endif
