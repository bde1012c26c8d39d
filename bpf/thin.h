/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The contract about what is left out to keep within --max-overhead. */
#ifndef BPFPROF_BPF_THIN_H
#define BPFPROF_BPF_THIN_H

#include "prof.h"

#define PROF_THINNEST 10 /* a stack of each thread in about an eighth of a second */
/*
 * What recordings go to: 16 to 31 stacks of each thread are taken then. So a thread that waits less
 * than 120 times a second keeps all of them: they cost little, and each long wait without a stack
 * would be shown by another one of its thread, a large error for next to nothing.
 */
#define PROF_MOST_THINNED 6
/*
 * And then most switches of threads that switch very often are not looked at (bpf/skips.bpf.h): of
 * each thread some are still, up to 2^(PROF_SKIPS_TARGET - skips) in an eighth of a second.
 */
#define PROF_MOST_SKIPS	  3
#define PROF_SKIPS_TARGET 10
#define PROF_SKIPPED_NS	  (1u << 20) /* no wait is longer that is not told apart */
/*
 * prof_count.chain is n for pace.bpf.h, or this many times n for skips.bpf.h: one wait in 2^n was
 * looked at.
 */
#define PROF_CHAIN_SKIP 256
/*
 * prof_count.wait of those that were not looked at. No wait that was has such a state: none is
 * blocked in state 0, and whoever could go on has none.
 */
#define PROF_GAP(kind) (PROF_WAIT(kind, (kind) == PROF_PREEMPTED, -1) | PROF_WAIT_NOT_SAMPLED)
/*
 * What is left out so that bpfprof costs no more than it may. Written by user space while it
 * records.
 */
struct prof_thin {
	__u32 stacks;  /* 0: each wait has its stack taken; up to PROF_THINNEST: ever fewer have */
	__u32 samples; /* of a clock, each stands for 2^samples periods of its event */
	__u32 used;    /* stacks was set once: counts may stand for more than themselves */
	__u32 skips;   /* 0: each switch is looked at; up to PROF_MOST_SKIPS */
	__u32 pad[12];
} __attribute__((aligned(64)));

#endif
