/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks that the kernel left to us: registers and stacks out of its slots, kept until the tables
 * that they need are built. A stack is what it was when it was sampled, so it does not matter how
 * long that takes, nor whether its process still lives, as long as its mappings are known.
 *
 * Of a thread that paused the kernel may have kept less than the stack: registers alone when it was
 * asleep at the start, what is not deep when it left its CPU. The rest is read out of its memory
 * when a walk comes there, and is the same as long as the thread has not been given a CPU since.
 */
#ifndef BPFPROF_COLLECT_DEFER_H
#define BPFPROF_COLLECT_DEFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"
#include "collect/arena.h"
#include "reader/reader.h"
#include "unwind/walk.h"

struct defer_item {
	uint32_t ref, pid; /* what the caller calls the stack; the process */
	uint64_t time_ns;
	uint64_t start_stack;
	struct prof_pause pause; /* tid 0: what was copied is all that there is */
	enum unwind_end cut;	 /* of a walk that needs more than that */
	struct walk_start start; /* regs and stack are the item's own */
	uint64_t *memory;
	uint8_t *others;  /* what start has of other stacks */
	size_t copied;	  /* bytes of stack that the kernel kept */
	uint32_t wants;	  /* the caller's: what the walk waits for, 0 = nothing yet */
	uint64_t thread;  /* the thread pointer, of one that was asleep at the start */
	uint64_t *python; /* its frames of Python, as words */
	uint32_t nr_python;
	/* What the walk wants to be read: none, more of its stack, or of another one. */
	enum { DEFER_NOTHING, DEFER_STACK, DEFER_OTHER } asks;
	uint64_t asks_at, asks_sz, asks_for; /* from, how much, and the address it needs */
	bool no_more, no_others;	     /* what is wanted of these is not there */
};

/* A row of the kernel's that waits for its turn. */
struct defer_sleeper {
	uint32_t ref, pid, row;
	uint64_t time_ns;
};

struct defer {
	const struct prof_deferred *slots; /* the kernel's */
	size_t nr_slots;		   /* 0: nothing but sleepers is ever deferred */
	uint64_t *taken;		   /* a bit for each slot */
	const struct prof_sleeper *rows;
	size_t nr_rows;
	struct reader *reader; /* of memory */
	struct defer_item *items;
	size_t nr, cap;
	size_t bytes;			/* of stacks that the kernel kept, in all items */
	struct defer_sleeper *sleepers; /* from first_sleeper on they wait */
	size_t first_sleeper, nr_sleepers, cap_sleepers;
};

/*
 * Takes over what a record of the kind PROF_STACK_DEFERRED names, and frees the kernel's slots; one
 * of the kind PROF_STACK_SLEEPER is queued. ref comes back with the item.
 */
void defer_take(struct defer *d, const struct arena_stack *s, uint32_t ref, uint64_t pc_mask);

/* Makes an item, the last one, of the next sleeper. False: there is none. */
bool defer_next_sleeper(struct defer *d, uint64_t pc_mask);

/*
 * A walk wants the stack at an address beyond what was copied. True when defer_read() can bring
 * more; else the item's cut says why not.
 */
bool defer_want(struct defer_item *item, uint64_t address);

/* The same for an address that lies on another stack. */
bool defer_want_other(struct defer_item *item, uint64_t address);

/* Brings what walks want, at once. False: they want nothing. */
bool defer_read(struct defer *d);

/* Has its thread not run since? */
bool defer_is_paused(const struct defer_item *item);

/* Items and sleepers that are not yet walked. */
size_t defer_left(const struct defer *d);

/* Of memory that they take. */
size_t defer_bytes(const struct defer *d);

/* Slots of the kernel that are taken: at the end, those that got lost. */
size_t defer_nr_taken(const struct defer *d);

/* Drops item i; the last one takes its place. */
void defer_done(struct defer *d, size_t i);

void defer_release(struct defer *d);

#endif
