/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The places where a thread waited lately, with what verifies that a stack there is unchanged
 * (memo.bpf.h). Pure: the host compiles it too, to be tested.
 *
 * A place is found by its key, a hash of where and for what the thread waits. Threads of servers
 * have 9 to 250 places, of which 8 make 99 of 100 switches; when a ninth comes, the one that was
 * used longest ago goes.
 */
#ifndef BPFPROF_BPF_PLACES_BPF_H
#define BPFPROF_BPF_PLACES_BPF_H

#include "prof.h"

#define NR_PLACES 8u

struct place {
	__u64 user_hash, kernel_hash;	/* of the words that the walks went by */
	__u32 user_shape, kernel_shape; /* which words those are: slots + 1, 0 = no such half */
	__u32 count, count_woken;	/* slots + 1; with prof_cfg.hops the stacks instead */
};
_Static_assert(sizeof(struct place) == 32, "two places are one cache line");

struct places {
	/*
	 * Byte i is how many places were used after place i, xor FRESH, so that zeroed memory is in
	 * order.
	 */
	__u64 order;
	__u64 keys[NR_PLACES]; /* 0 = free */
	struct place v[NR_PLACES];
};

#define PLACES_FRESH 0x0001020304050607ull
#define PLACES_ONES  0x0101010101010101ull
#define PLACES_HIGH  0x8080808080808080ull

/* Number + 1, 0 = none. verifier: no branch, or what follows would be looked at nine times. */
static inline __attribute__((always_inline)) __u32 places_find(const struct places *p, __u64 key)
{
	__u32 found = 0, i;

	for (i = 0; i < NR_PLACES; i++) {
		__u64 differ = p->keys[i] ^ key;

		differ |= -differ;				/* now its sign tells */
		__asm__ volatile("" : "+r"(differ));		/* or clang makes a branch of it */
		found += (i + 1) * (1 - (__u32)(differ >> 63)); /* no key is there twice */
	}
	return found;
}

/* Place i is the one that was used last. */
static inline __attribute__((always_inline)) void places_use(struct places *p, __u32 i)
{
	__u64 order = p->order ^ PLACES_FRESH, shift = (i % NR_PLACES) * 8, age;

	age = order >> shift & 0xff;
	if (!age)
		return;
	/* Bytes below age have bit 7 set in the difference, and move on by one. */
	order += ((age * PLACES_ONES + ~PLACES_HIGH - order) & PLACES_HIGH) >> 7;
	order -= age << shift;
	p->order = order ^ PLACES_FRESH;
}

/* The one that was used longest ago. */
static inline __attribute__((always_inline)) __u32 places_oldest(const struct places *p)
{
	__u64 order = p->order ^ PLACES_FRESH;
	__u32 oldest = 0, i;

	__asm__ volatile("" : "+r"(order));
	for (i = 0; i < NR_PLACES; i++) /* its byte is 7: the only one that 1 more makes 8 */
		oldest |= i * (((order >> i * 8 & 7) + 1) >> 3);
	return oldest;
}

#endif
