/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turning over and emptying. Nobody writes to a generation that is emptied. */
#include "collect/generations.h"

#include <string.h>

#define FULL_SLOTS 4 /* one in so many taken: there is time to turn over before probes fail */
#define FULL_WORDS 2
#define FAST_SLOTS 16 /* one in so many in a turn */

static void begin(struct generations *g, uint32_t nr)
{
	const struct session_maps *m = g->maps;

	g->arenas[nr] = (struct arena){ .words = m->frames + nr * m->nr_frame_words,
					.nr_words = m->nr_frame_words,
					.cursor = (const uint64_t *)&m->frame_cursors[nr] };
}

void generations_init(struct generations *g, const struct session_maps *maps)
{
	*g = (struct generations){ .maps = maps };
	for (uint32_t i = 0; i < maps->nr_generations; i++)
		begin(g, i);
}

bool generations_next(struct generations *g, uint64_t until_ns, struct arena_stack *out)
{
	if (!arena_next(&g->arenas[g->read], until_ns, out))
		return false;
	g->nr_records++;
	return true;
}

bool generations_is_over(const struct generations *g)
{
	return g->read != g->filled && arena_is_at_end(&g->arenas[g->read]);
}

void generations_empty(struct generations *g)
{
	const struct session_maps *m = g->maps;
	uint64_t words = m->frame_cursors[g->read].value;
	struct prof_count *counts = m->counts + g->read * m->nr_counts;

	if (words > m->nr_frame_words)
		words = m->nr_frame_words;
	memset(m->frames + g->read * m->nr_frame_words, 0, words * sizeof(*m->frames));
	memset(m->stacks + g->read * m->nr_stack_slots, 0, m->nr_stack_slots * sizeof(*m->stacks));
	for (size_t i = 0; i < m->nr_counts; i++)
		if (counts[i].hash)
			counts[i] = (struct prof_count){};
	if (m->nr_values)
		memset(m->values + g->read * m->nr_counts * m->nr_values, 0,
		       m->nr_counts * m->nr_values * sizeof(*m->values));
	m->frame_cursors[g->read].value = 0;
	m->counts_used[g->read].value = 0;
	begin(g, g->read);
	g->read = g->filled;
	g->nr_records = 0;
	g->was_used = 0;
}

/* Slots of the table that has fewest left; both have as many. */
static size_t nr_used(const struct generations *g)
{
	size_t counts = __atomic_load_n(&g->maps->counts_used[g->filled].value, __ATOMIC_RELAXED);

	return counts > g->nr_records ? counts : g->nr_records;
}

static bool is_filling(const struct generations *g, size_t used)
{
	const struct session_maps *m = g->maps;
	uint64_t words = __atomic_load_n(&m->frame_cursors[g->filled].value, __ATOMIC_RELAXED);

	return words > m->nr_frame_words / FULL_WORDS || used > m->nr_counts / FULL_SLOTS;
}

bool generations_turn(struct generations *g, void (*settle)(void *arg), void *arg)
{
	size_t used = nr_used(g), was = g->was_used;

	if (g->maps->nr_generations < 2)
		return false;
	if (g->read != g->filled)
		return true;
	g->was_used = used;
	if (!is_filling(g, used))
		return used - was > g->maps->nr_counts / FAST_SLOTS;
	g->filled = !g->filled;
	g->nr_turns++;
	__atomic_store_n(g->maps->generation, g->filled, __ATOMIC_SEQ_CST);
	settle(arg);
	return true;
}

bool generations_is_quiet(struct generations *g)
{
	return g->read == g->filled && !arena_is_stalled(&g->arenas[g->read]);
}
