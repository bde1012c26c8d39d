/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of threads. Pure: the host compiles it too, to be tested. */
#ifndef BPFPROF_BPF_COMM_BPF_H
#define BPFPROF_BPF_COMM_BPF_H

#include "prof.h"

_Static_assert(PROF_COMM_LEN == 2 * sizeof(__u64), "a name is two words");

/* The bytes before the first 0 of a word, all of it where there is none. */
static inline __attribute__((always_inline)) __u64 comm_before_end(__u64 word, __u64 *end)
{
	*end = (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;
	return word & ((*end & -*end) - 1); /* its lowest bit is the highest one of that 0 */
}

/*
 * A task's name, as bpf_get_current_comm() reads it, by two loads instead of a call that takes 33
 * ns: 0 from its end on, where old kernels keep what is left of a longer one.
 */
static inline __attribute__((always_inline)) void comm_copy(char to[PROF_COMM_LEN],
							    const char from[PROF_COMM_LEN])
{
	__u64 *word = (__u64 *)to, end, end2, ended;

	word[0] = comm_before_end(((const __u64 *)from)[0], &end);
	word[1] = comm_before_end(((const __u64 *)from)[1], &end2);
	ended = (end | -end) >> 63;
	__asm__ volatile("" : "+r"(ended)); /* verifier: a branch here is two ways to look at */
	word[1] &= ended - 1;
}

#endif
