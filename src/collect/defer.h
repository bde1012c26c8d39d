/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks that the kernel left to us: registers and stacks out of its slots, kept until the tables
 * that they need are built. A stack is what it was when it was sampled, so it does not matter how
 * long that takes, nor whether its process still lives, as long as its mappings are known.
 */
#ifndef BPFPROF_COLLECT_DEFER_H
#define BPFPROF_COLLECT_DEFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "collect/arena.h"
#include "unwind/walk.h"

struct defer_item {
	uint32_t slot, pid; /* of the stack table; the process */
	uint64_t time_ns;
	uint64_t start_stack;
	bool gone;		 /* it was asleep, and ran on before its stack could be read */
	struct walk_start start; /* regs and stack are the item's own */
	uint64_t *memory;
};

struct defer {
	struct prof_deferred *slots; /* the kernel's; NULL: nothing is ever deferred */
	size_t nr_slots;
	struct defer_item *items;
	size_t nr, cap;
};

/* Takes over what a record of the kind PROF_STACK_DEFERRED names, and frees the kernel's slot. */
void defer_take(struct defer *d, const struct arena_stack *s, uint64_t pc_mask);

/* Drops item i; the last one takes its place. */
void defer_done(struct defer *d, size_t i);

void defer_release(struct defer *d);

#endif
