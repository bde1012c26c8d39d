/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What user stacks by themselves say of contexts, for the samples that have them (context.c). */
#ifndef BPFPROF_PROFILE_CONTEXT_STACK_H
#define BPFPROF_PROFILE_CONTEXT_STACK_H

#include "profile/context.h"

/* What a user stack says by itself. */
struct context_shape {
	bool known;
	uint8_t runtime; /* number + 1, 0: none of its functions is a runtime's */
	uint8_t context; /* as of a wait; idle ones not yet told apart by the system call */
	uint8_t role;
	uint8_t clues;
	bool block_on; /* a task that waits for a future as a thread does */
	uint32_t own;
};

struct context_stacks {
	const struct profile *p;
	struct context_known *frames;
	struct context_shape *shapes;	/* per stack */
	bool has[CONTEXT_MAX_RUNTIMES]; /* its needle is among the strings */
};

/* False: no runtime is in it, and there is nothing to ask. */
bool context_stacks_init(struct context_stacks *c, const struct profile *p);
void context_stacks_release(struct context_stacks *c);

const struct context_shape *context_shape(const struct context_stacks *c, uint32_t stack);

/*
 * Whether nothing but a wait stands on the stack of a thread of the standard library: with all
 * functions inlined, that is a pool's. Threads that tasks begin have the same name and code of
 * their own, or wait otherwise.
 */
bool context_is_bare(const struct context_stacks *c, uint32_t stack);

#endif
