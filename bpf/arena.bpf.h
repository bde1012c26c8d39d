/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where stacks and counts are kept (prof.h draws the layout): lock-free tables, safe in NMI,
 * nothing allocated. And the scratch memory in which a program builds a stack before it is
 * interned.
 */
#ifndef BPFPROF_BPF_ARENA_BPF_H
#define BPFPROF_BPF_ARENA_BPF_H

#include "counters.bpf.h"
#include "step.bpf.h"

/*
 * Programs that may interrupt each other on a CPU have scratch of their own; its number travels as
 * an argument.
 */
#define NR_UPROBE_SCRATCHES 4 /* threads that preempt each other */
enum scratch_id {
	SCRATCH_PERF = 0,
	SCRATCH_SCHED = 1,
	SCRATCH_UPROBE = 2, /* the first one */
	NR_SCRATCHES = SCRATCH_UPROBE + NR_UPROBE_SCRATCHES,
};

/* A stack being built, leaf first. hash runs over the frames as they are appended. */
struct scratch_stack {
	__u64 hash;
	__u32 nr;
	__u16 end;    /* enum unwind_end */
	__u8 kind;    /* enum prof_stack_kind */
	__u8 guessed; /* frames */
	__u64 frames[PROF_MAX_FRAMES];
};

struct scratch {
	struct scratch_stack user, kernel;
	__u64 pc, sp, fp, lr;		  /* of the innermost user frame */
	__u64 status;			  /* uprobes: tells 32-bit code */
	struct step at;			  /* the frame that the walk has come to */
	__u64 window_start, window_bytes; /* user addresses that window holds */
	__u64 window[64];
	__u64 regs[34]; /* user registers of a thread that is in the kernel */
	__u32 has_regs;
	__u32 busy;	/* SCRATCH_UPROBE: taken */
	__u32 deferred; /* the walk needs something that only user space can give */
	/* The list of mappings that the walk goes by, and the mapping it looked into last. */
	__u32 list, nr_mappings, space, epoch, final, exe;
	__u64 map_start, map_end, bias, first_page;
	__u32 state, base, nr_pages, exceptions;
	struct table_exception exception;
	__u64 cfa, ra; /* of a frame that is left by it */
};

__hidden struct scratch *scratch_get(__u32 id);

/* One step of the content hash: multiply-xorshift, started from a random seed. */
static __always_inline __u64 hash_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdull;
	return hash ^ (hash >> 32);
}

/*
 * Interns the user or the kernel half of scratch id: returns its slot + 1, or 0 when the table is
 * full (the caller counts LOST_STACKS). Separately verified.
 */
int arena_stack(__u32 id, __u32 kind);

/*
 * Adds one sample of weight to key's count. False when the table is full. key->hash is filled in
 * here.
 */
__hidden bool arena_count(struct prof_count *key, __u64 weight);

#endif
