/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One frame of CPython, from its words to the word that stands for it (python.h). Nothing here
 * belongs to BPF: the host compiles it to read threads that sleep, and to be tested.
 */
#ifndef BPFPROF_BPF_PYTHON_STEP_BPF_H
#define BPFPROF_BPF_PYTHON_STEP_BPF_H

#include "python.h"

static inline __attribute__((always_inline)) __u64 python_field(const __u64 words[PYTHON_WORDS],
								__u32 offset)
{
	return words[offset / 8 & (PYTHON_WORDS - 1)];
}

/* No branches: the verifier would try both ways of each, at each frame. */

/* In units of two bytes; what has not begun is at its beginning. */
static inline __attribute__((always_inline)) __u64 python_index(const struct python_layout *l,
								__u64 code, __u64 at)
{
	__u64 is_address = -(__u64)(l->header != 0);
	__u64 number = (__s64)(at << l->at_shift) >> l->at_shift;
	__s64 index = number << l->unit_shift, over;

	index -= (code + l->header) & is_address;
	index &= ~(index >> 63);
	index = (__u64)index >> 1;
	over = ((__s64)PYTHON_FAR - index) >> 63;
	return (index & ~over) | (PYTHON_FAR & over);
}

static inline __attribute__((always_inline)) __u64 python_word(const struct python_layout *l,
							       const __u64 words[PYTHON_WORDS])
{
	__u64 code = python_field(words, l->code) & ~7ull;
	__u64 index = python_index(l, code, python_field(words, l->at)), last, code_mask;
	__u64 entry = python_field(words, l->entry) >> (l->entry & 7) * 8 & l->entry_mask;

	last = ((entry ^ l->entry_is) - 1) >> 63;
	code_mask = (last & l->is_shim) - 1;
	return PYTHON_FRAME | last << 60 |
	       ((index << PYTHON_INDEX_SHIFT | code << 16 >> 19) & code_mask);
}

#endif
