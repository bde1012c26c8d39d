/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Linear probing; the hashes are kept, so growing asks nobody. */
#include "base/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"

#define FIRST_SLOTS 64

static uint64_t seed(void)
{
	static uint64_t seed;

	if (!seed && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uintptr_t)&seed;
	return seed;
}

uint32_t index_hash(uint32_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint64_t mixed = seed() ^ hash, word;
	size_t part;

	for (; len; at += part, len -= part) {
		part = len < sizeof(word) ? len : sizeof(word);
		word = 0;
		memcpy(&word, at, part);
		mixed = (mixed ^ word) * 0xff51afd7ed558ccdull;
		mixed ^= mixed >> 32;
	}
	return mixed;
}

static struct index_slot *free_slot(const struct index *x, uint32_t hash)
{
	size_t at = hash & (x->cap - 1);

	while (x->slots[at].id1)
		at = (at + 1) & (x->cap - 1);
	return &x->slots[at];
}

static void grow(struct index *x)
{
	struct index old = *x;

	x->cap = old.cap ? 2 * old.cap : FIRST_SLOTS;
	x->slots = xcalloc(x->cap, sizeof(*x->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].id1)
			*free_slot(x, old.slots[i].hash) = old.slots[i];
	free(old.slots);
}

bool index_find(const struct index *x, uint32_t hash, index_is is, const void *arg, uint32_t *id)
{
	const struct index_slot *s;

	for (size_t at = hash; x->cap; at++) {
		s = &x->slots[at & (x->cap - 1)];
		if (!s->id1)
			return false;
		if (s->hash == hash && is(arg, s->id1 - 1)) {
			*id = s->id1 - 1;
			return true;
		}
	}
	return false;
}

void index_add(struct index *x, uint32_t hash, uint32_t id)
{
	if (3 * (x->nr + 1) > 2 * x->cap)
		grow(x);
	*free_slot(x, hash) = (struct index_slot){ hash, id + 1 };
	x->nr++;
}

void index_release(struct index *x)
{
	free(x->slots);
	*x = (struct index){};
}
