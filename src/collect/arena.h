/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading the kernel's log of stack records while it grows (prof.h draws it). */
#ifndef BPFPROF_COLLECT_ARENA_H
#define BPFPROF_COLLECT_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"

struct arena {
	const uint64_t *words; /* shared with the kernel */
	size_t nr_words;
	const uint64_t *cursor;
	size_t read;	  /* words consumed */
	size_t waited_at; /* where a full log was found without a record, + 1 */
};

struct arena_stack {
	uint32_t slot, pid;
	uint32_t nr_frames;
	uint8_t kind;	 /* enum prof_stack_kind */
	uint8_t end;	 /* enum unwind_end */
	uint8_t guessed; /* frames */
	uint64_t time_ns;
	const uint64_t *frames; /* in the arena, leaf first */
	const uint64_t *python; /* behind them (bpf/python.h), once they are split */
	uint32_t nr_python;
};

/*
 * The next record that is complete and was taken no later than until_ns. False when there is none
 * yet: the record may still be in the making, and is offered again by the next call.
 */
bool arena_next(struct arena *a, uint64_t until_ns, struct arena_stack *out);

/* Have all records been read? Of a log that nobody writes to any more. */
bool arena_is_at_end(const struct arena *a);

/* Is a record in the making where the reader stands? Ask once a turn. */
bool arena_is_stalled(struct arena *a);

#endif
