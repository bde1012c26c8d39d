/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contract about allocations. Each byte is as likely as any other to have its allocation
 * sampled: a thread counts the bytes down that are left until its next sample, and draws anew then.
 */
#ifndef BPFPROF_BPF_ALLOC_H
#define BPFPROF_BPF_ALLOC_H

#include "prof.h"

#define ALLOC_DRAWS 1024 /* a power of two: equally likely lengths of the way to the next sample */

/*
 * What a function does, in the upper half of the cookie of its points: which argument, from 1 on,
 * is the size, by which it is multiplied, and which is freed; 0 = none.
 */
#define ALLOC_HOW(size, factor, freed, flags)                                                      \
	((size) | (factor) << 4 | (freed) << 8 | (__u32)(flags) << 12)
#define ALLOC_SIZE(how)	  ((how)&15)
#define ALLOC_FACTOR(how) ((how) >> 4 & 15)
#define ALLOC_FREED(how)  ((how) >> 8 & 15)
#define ALLOC_FLAGS(how)  ((how) >> 12)
#define ALLOC_IS_MMAP	  1u  /* counts when it maps anonymous memory that can be accessed */
#define ALLOC_IS_GO	  2u  /* Go passes the first argument where C returns its result */
#define ALLOC_IS_JUMP	  8u  /* where the function is left, to return elsewhere */
#define ALLOC_IS_STORED	  4u  /* the result goes where the first argument points to */
#define ALLOC_IS_DEAR	  16u /* the kernel single-steps the instruction there */

/* In a word: exact below 2 GB, in MB above. It is prof_count.chain. */
#define ALLOC_LARGE	  (1u << 31)
#define ALLOC_CODE(bytes) ((bytes) < ALLOC_LARGE ? (__u32)(bytes) : ALLOC_LARGE | (bytes) >> 20)
#define ALLOC_BYTES(code) ((code)&ALLOC_LARGE ? (__u64)((code) & ~ALLOC_LARGE) << 20 : (code))
#define ALLOC_MOST	  (1ull << 47) /* no address space has so much */

/*
 * A sampled call that returned no memory is counted a second time, as this event: user space takes
 * it off. The ledger has it as failed then.
 */
#define ALLOC_FAILED_EVENT 64

/* A sampled allocation that was not freed, by its process and address. */
struct alloc_key {
	__u64 address;
	__u32 pid, pad;
};
_Static_assert(sizeof(struct alloc_key) == 16, "struct alloc_key is part of the contract");

struct alloc_live {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 pid, tid;
	__u32 ustack; /* slot + 1 */
	__u32 size;   /* ALLOC_CODE */
	char comm[PROF_COMM_LEN];
};
_Static_assert(sizeof(struct alloc_live) == 40, "struct alloc_live is part of the contract");

/* Frozen before load. */
struct alloc_config {
	__u32 live_slots; /* 0 = frees are not followed */
	__u32 pad;
};
_Static_assert(sizeof(struct alloc_config) == 8, "struct alloc_config is part of the contract");

#endif
