/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sums by key. */
#include "collect/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct key {
	const struct tally *tally;
	const struct prof_count *count;
};

static bool is_same(const void *arg, uint32_t id)
{
	const struct key *key = arg;
	const struct prof_count *a = key->count, *b = &key->tally->counts[id];

	return a->pid == b->pid && a->tid == b->tid && a->ustack == b->ustack &&
	       a->kstack == b->kstack && a->wait == b->wait && a->chain == b->chain &&
	       !memcmp(a->comm, b->comm, sizeof(a->comm));
}

static uint32_t hash_of(const struct prof_count *c)
{
	const uint32_t ids[] = { c->pid, c->tid, c->ustack, c->kstack, c->wait, c->chain };

	return index_hash(index_hash(0, ids, sizeof(ids)), c->comm, sizeof(c->comm));
}

static uint32_t begin(struct tally *t, const struct prof_count *count, size_t nr_values)
{
	struct prof_count fresh = *count;

	fresh.hash = fresh.samples = fresh.weight = 0;
	t->counts = xgrow(t->counts, t->nr, &t->cap, sizeof(*t->counts));
	t->counts[t->nr] = fresh;
	for (size_t i = 0; i < nr_values; i++) {
		t->values = xgrow(t->values, t->nr_all, &t->cap_values, sizeof(*t->values));
		t->values[t->nr_all++] = (struct prof_event_count){};
	}
	t->nr_values = nr_values;
	return t->nr++;
}

uint32_t tally_add(struct tally *t, const struct prof_count *count,
		   const struct prof_event_count *values, size_t nr_values)
{
	struct key key = { t, count };
	uint32_t hash = hash_of(count), id;
	struct prof_event_count *sum;

	if (!index_find(&t->index, hash, is_same, &key, &id)) {
		id = begin(t, count, nr_values);
		index_add(&t->index, hash, id);
	}
	t->counts[id].samples += count->samples;
	t->counts[id].weight += count->weight;
	for (size_t i = 0; i < nr_values; i++) {
		sum = &t->values[id * nr_values + i];
		sum->value += values[i].value;
		sum->enabled_ns += values[i].enabled_ns;
		sum->running_ns += values[i].running_ns;
	}
	return id;
}

void tally_add_lengths(struct tally *t, uint32_t id, const union prof_wait_hist *h)
{
	struct tally_lengths *to;

	while (t->nr_lengths < t->nr) {
		t->lengths = xgrow(t->lengths, t->nr_lengths, &t->cap_lengths, sizeof(*t->lengths));
		t->lengths[t->nr_lengths++] = (struct tally_lengths){};
	}
	to = &t->lengths[id];
	for (size_t i = 0; i < PROF_WAIT_BUCKETS; i++)
		to->count[i] += h->count[i];
	if (h->max_ns > to->max_ns)
		to->max_ns = h->max_ns;
}

void tally_release(struct tally *t)
{
	free(t->lengths);
	free(t->counts);
	free(t->values);
	index_release(&t->index);
}
