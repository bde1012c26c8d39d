/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slices of a recording: differences of counts between two looks at them. */
#include "collect/slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define WANTED	    20 /* slices of a recording whose length is known */
#define SHORTEST_NS 100000000ull

void slices_begin(struct slices *s, const struct prof_count *counts, size_t nr_slots,
		  uint64_t begin_ns, uint64_t duration_ns)
{
	*s = (struct slices){ .counts = counts,
			      .nr_slots = nr_slots,
			      .begin_ns = begin_ns,
			      .length_ns = duration_ns / WANTED,
			      .max_parts = SLICES_MAX_PARTS };
	if (s->length_ns < SHORTEST_NS)
		s->length_ns = SHORTEST_NS;
	s->next_ns = begin_ns + s->length_ns;
}

static void add(struct slices *s, size_t slot, uint64_t weight)
{
	struct slice_slot *of = &s->slots[slot];

	s->parts = xgrow(s->parts, s->nr_parts, &s->cap_parts, sizeof(*s->parts));
	s->parts[s->nr_parts++] =
		(struct slice_part){ SLICES_NO_ID, s->nr, of->last, .weight = weight };
	of->last = s->nr_parts;
	of->seen += weight;
}

static int by_id(const void *x, const void *y)
{
	const struct slice_part *a = x, *b = y;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* One part of each id and slice is left of nr. Returns how many these are. */
static size_t merge(struct slice_part *v, size_t nr)
{
	size_t left = 0;

	if (nr)
		qsort(v, nr, sizeof(*v), by_id);
	for (size_t i = 0; i < nr && v[i].id != SLICES_NO_ID; i++) {
		if (left && !by_id(&v[left - 1], &v[i]))
			v[left - 1].weight += v[i].weight;
		else
			v[left++] = v[i];
	}
	return left;
}

/* The parts of a slot move behind those that are there, oldest last, two of a slice as one. */
static void move_chain(struct slices *s, const struct slice_part *from, struct slice_slot *of)
{
	uint32_t at = of->last, *link = &of->last;
	struct slice_part *last;

	*link = 0;
	for (; at; at = from[at - 1].next) {
		last = *link ? &s->parts[*link - 1] : NULL;
		if (last && last->slice == from[at - 1].slice) {
			last->weight += from[at - 1].weight;
			continue;
		}
		if (last)
			link = &last->next;
		s->parts[s->nr_parts] = from[at - 1];
		s->parts[s->nr_parts].next = 0;
		*link = ++s->nr_parts;
	}
}

static void compact(struct slices *s)
{
	struct slice_part *from = s->parts;

	s->parts = xcalloc(s->cap_parts, sizeof(*s->parts));
	memcpy(s->parts, from, s->nr_parts * sizeof(*from));
	s->nr_parts = merge(s->parts, s->nr_parts);
	for (size_t i = 0; i < s->nr_slots; i++)
		move_chain(s, from, &s->slots[i]);
	free(from);
}

static void halve(struct slices *s)
{
	for (size_t i = 0; i < s->nr / 2; i++)
		s->ends_ns[i] = s->ends_ns[2 * i + 1];
	if (s->nr % 2)
		s->ends_ns[s->nr / 2] = s->ends_ns[s->nr - 1];
	for (size_t i = 0; i < s->nr_parts; i++)
		s->parts[i].slice /= 2;
	s->nr = (s->nr + 1) / 2;
	s->length_ns *= 2;
	compact(s);
}

static void make_slots(struct slices *s)
{
	if (!s->slots)
		s->slots = xcalloc(s->nr_slots, sizeof(*s->slots));
}

static void end_slice(struct slices *s, uint64_t now_ns)
{
	make_slots(s);
	for (size_t i = 0; i < s->nr_slots; i++) {
		const struct prof_count *n = &s->counts[i];
		uint64_t weight = slices_weight(n);

		if (weight > s->slots[i].seen)
			add(s, i, weight - s->slots[i].seen);
	}
	s->ends_ns[s->nr++] = now_ns - s->begin_ns;
}

/* Where even two slices have too many parts, there are none. */
static void make_room(struct slices *s)
{
	while (s->nr > 1 && s->nr_parts > s->max_parts / 2)
		halve(s);
	if (s->nr_parts > s->max_parts / 2)
		slices_release(s);
}

void slices_turn(struct slices *s, uint64_t now_ns)
{
	if (!s->length_ns)
		return;
	if (s->nr_parts > s->max_parts)
		make_room(s);
	if (!s->length_ns || now_ns < s->next_ns)
		return;
	end_slice(s, now_ns);
	if (s->nr == SLICES_MAX)
		halve(s);
	s->next_ns += s->length_ns;
	if (s->next_ns <= now_ns)
		s->next_ns = now_ns + s->length_ns;
}

void slices_take(struct slices *s, size_t slot, uint32_t id)
{
	struct slice_slot *of;
	uint64_t weight;

	if (!s->length_ns)
		return;
	make_slots(s);
	of = &s->slots[slot];
	weight = slices_weight(&s->counts[slot]);
	if (weight > of->seen)
		add(s, slot, weight - of->seen);
	for (uint32_t at = of->last; at; at = s->parts[at - 1].next)
		s->parts[at - 1].id = id;
	*of = (struct slice_slot){};
}

void slices_empty(struct slices *s, size_t first, size_t nr)
{
	if (s->slots)
		memset(s->slots + first, 0, nr * sizeof(*s->slots));
}

/* What remains is too short for a slice of its own. */
static void add_to_last(struct slices *s)
{
	s->nr--;
	for (size_t i = 0; i < s->nr_parts; i++)
		if (s->parts[i].slice > s->nr)
			s->parts[i].slice = s->nr;
}

void slices_end(struct slices *s, uint64_t now_ns)
{
	if (!s->nr && !s->nr_parts)
		return;
	if (s->nr && now_ns < s->begin_ns + s->ends_ns[s->nr - 1] + s->length_ns / 2)
		add_to_last(s);
	s->ends_ns[s->nr++] = now_ns - s->begin_ns;
	s->nr_parts = merge(s->parts, s->nr_parts);
}

void slices_release(struct slices *s)
{
	free(s->slots);
	free(s->parts);
	*s = (struct slices){};
}
