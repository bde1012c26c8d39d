/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a wait belongs in a struct prof_hist or prof_wait_hist: the one place that knows, compiled
 * by BPF and by the host, whose side of it (what a bucket means) is src/profile/runqlat.c and
 * lengths.c.
 */
#ifndef BPFPROF_BPF_HIST_H
#define BPFPROF_BPF_HIST_H

#include "prof.h"

/*
 * 0 to PROF_HIST_BUCKETS - 1. Each step halves what the exponent may still be; what remains is 4 to
 * 7, the leading bit and the two behind it, or the value itself where that is less than 4. The
 * comparisons are sign bits of differences, so there is one path, not 64.
 */
static inline __attribute__((always_inline)) __u32 prof_hist_index(__u64 ns)
{
	__u32 shifted = 0, log, shift, i;

	if (ns >= 7ull << 37)
		return PROF_HIST_BUCKETS - 1;
	for (log = 6; log--;) {
		shift = (__u32)(((4ull << (1u << log)) - 1 - ns) >> 63) << log;
		ns >>= shift;
		shifted += shift;
	}
	i = 4 * shifted + (__u32)ns;
	/* verifier: it does not know that this cannot be */
	return i < PROF_HIST_BUCKETS ? i : PROF_HIST_BUCKETS - 1;
}

/*
 * 0 to PROF_WAIT_BUCKETS - 1, of a union prof_wait_hist: how many bits are left without the lowest
 * ones. In the same way, since BPF has no instruction for it.
 */
static inline __attribute__((always_inline)) __u32 prof_wait_bucket(__u64 ns)
{
	__u64 below, shift, bits = 0;

	ns >>= PROF_WAIT_BUCKET_SHIFT;
	for (__u32 log = 5; log--;) {
		below = (1ull << (1u << log)) - 1 - ns;
		asm volatile("" : "+r"(below)); /* or clang makes a branch of its sign */
		shift = below >> 63 << log;
		ns >>= shift;
		bits += shift;
	}
	bits += ns;
	below = PROF_WAIT_BUCKETS - 1 - bits;
	asm volatile("" : "+r"(below));
	return (bits + (below & (__u64)((__s64)below >> 63))) & 31;
}

#endif
