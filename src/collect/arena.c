/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader's side of the arena. */
#include "collect/arena.h"

static size_t arena_limit(const struct arena *a)
{
	uint64_t cursor = __atomic_load_n(a->cursor, __ATOMIC_ACQUIRE);

	return cursor < a->nr_words ? cursor : a->nr_words;
}

bool arena_is_at_end(const struct arena *a)
{
	return a->read + PROF_STACK_WORDS > arena_limit(a) ||
	       !__atomic_load_n(a->words + a->read, __ATOMIC_ACQUIRE);
}

/*
 * Once the log is full, what did not fit leaves words behind that stay zero. A record in the making
 * may look the same, but only for the microseconds that its program takes: it is waited for once.
 */
bool arena_is_stalled(struct arena *a)
{
	bool full = __atomic_load_n(a->cursor, __ATOMIC_ACQUIRE) > a->nr_words;

	if (a->read + PROF_STACK_WORDS > arena_limit(a) || !arena_is_at_end(a))
		return false;
	if (full && a->waited_at == a->read + 1)
		return false;
	a->waited_at = full ? a->read + 1 : 0;
	return true;
}

bool arena_next(struct arena *a, uint64_t until_ns, struct arena_stack *out)
{
	size_t limit = arena_limit(a);
	uint64_t head;
	const uint64_t *r = a->words + a->read;

	if (a->read + PROF_STACK_WORDS > limit)
		return false;
	head = __atomic_load_n(r, __ATOMIC_ACQUIRE);
	if (!head || r[2] > until_ns)
		return false;
	*out = (struct arena_stack){
		.slot = head,
		.nr_frames = head >> 32 & 0xffff,
		.kind = head >> 48 & 0xff,
		.end = head >> 56,
		.pid = r[1],
		.guessed = r[1] >> 56,
		.time_ns = r[2],
		.frames = r + PROF_STACK_WORDS,
	};
	if (out->nr_frames > PROF_MAX_FRAMES || a->read + PROF_STACK_WORDS + out->nr_frames > limit)
		return false;
	a->read += PROF_STACK_WORDS + out->nr_frames;
	return true;
}
