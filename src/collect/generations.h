/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording of any length in tables of a fixed size. The arena has two generations (prof.h):
 *
 *	the kernel fills   0 ─────────────┐ 1 ─────────────────────┐ 0 ───
 *	we read            0 ───────────────── 1 ─────────────────────── 0
 *	                                  ▲   ▲
 *	           0 is filling: turn over┘   └ all of its records are read: its counts are taken
 *	           and wait for the runs        over, and it is emptied
 *	           that had begun
 *
 * Where there is but one, for what refers to its slots for long (prof_config.two_generations), it
 * fills up.
 */
#ifndef BPFPROF_COLLECT_GENERATIONS_H
#define BPFPROF_COLLECT_GENERATIONS_H

#include "collect/arena.h"
#include "collect/session.h"

struct generations {
	const struct session_maps *maps; /* borrowed */
	struct arena arenas[PROF_GENERATIONS];
	uint32_t filled, read; /* numbers of generations */
	size_t nr_records;     /* of the one that is read, so far */
	size_t was_used;       /* of its slots, at the last turn */
	size_t nr_turns;       /* how often the other one began */
};

void generations_init(struct generations *g, const struct session_maps *maps);

/* The next record taken no later than until_ns; as arena_next(). */
bool generations_next(struct generations *g, uint64_t until_ns, struct arena_stack *out);

/* The one that is read is no longer filled, and all of its records have been read. */
bool generations_is_over(const struct generations *g);

/* What was read is taken over: its tables become empty, and the other one is read. */
void generations_empty(struct generations *g);

/*
 * Once a turn: lets the kernel fill the other one if this one is filling and the other one is
 * empty. settle() waits until all runs of programs that have begun have ended. True: it fills so
 * fast that turns should be short.
 */
bool generations_turn(struct generations *g, void (*settle)(void *arg), void *arg);

/* Is there nothing to be read but what is being written? Ask once a turn. */
bool generations_is_quiet(struct generations *g);

#endif
