/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* O(n²) over some hundred tables, when room is short: fine. */
#include "unwind/room.h"

/* A place, and what it costs to free it. */
struct place {
	uint64_t word, nr;
	uint32_t youngest; /* age of the youngest table that goes; UINT32_MAX: none */
	uint64_t words;	   /* of all that go */
};

static bool overlaps(const struct room_range *r, const struct place *p)
{
	return r->word < p->word + p->nr && p->word < (uint64_t)r->word + r->nr;
}

/* False: something there stays. */
static bool price(struct place *p, const struct room_range *ranges, size_t nr)
{
	p->youngest = UINT32_MAX;
	p->words = 0;
	for (size_t i = 0; i < nr; i++) {
		if (!overlaps(&ranges[i], p))
			continue;
		if (!ranges[i].age)
			return false;
		if (ranges[i].age < p->youngest)
			p->youngest = ranges[i].age;
		p->words += ranges[i].nr;
	}
	return true;
}

static bool is_better(const struct place *a, const struct place *b)
{
	return !b->nr || a->youngest > b->youngest ||
	       (a->youngest == b->youngest && a->words < b->words);
}

/* As far as segments may be made. */
static bool is_allowed(const struct segments *s, const struct place *p)
{
	uint32_t first = p->word >> TABLE_SEGMENT_SHIFT, missing = 0;
	uint32_t last = (p->word + p->nr - 1) >> TABLE_SEGMENT_SHIFT;

	for (uint32_t i = first; i <= last; i++) {
		if (i >= s->nr_places)
			return false;
		missing += !s->list[i].made;
	}
	return s->nr + missing <= s->max && (p->nr >= TABLE_SEGMENT_WORDS || first == last);
}

static void consider(const struct segments *s, struct place p, const struct room_range *ranges,
		     size_t nr, struct place *best)
{
	if (is_allowed(s, &p) && price(&p, ranges, nr) && is_better(&p, best))
		*best = p;
}

bool room_find(const struct segments *s, struct room_range *ranges, size_t nr, uint32_t words)
{
	struct place best = {}, p = { .nr = words };

	if (words > TABLE_SEGMENT_WORDS) /* all of the last one, too */
		p.nr = (words + TABLE_SEGMENT_WORDS - 1ull) & ~(TABLE_SEGMENT_WORDS - 1ull);
	for (uint32_t i = 0; i < s->nr_places; i++) {
		p.word = (uint64_t)i << TABLE_SEGMENT_SHIFT;
		consider(s, p, ranges, nr, &best);
	}
	/* What costs least begins there, or where something ends. */
	for (size_t i = 0; i < nr && words <= TABLE_SEGMENT_WORDS; i++) {
		p.word = ((uint64_t)ranges[i].word + ranges[i].nr + 7) & ~7ull;
		consider(s, p, ranges, nr, &best);
	}
	for (size_t i = 0; i < nr && best.nr; i++)
		ranges[i].goes = overlaps(&ranges[i], &best);
	return best.nr;
}
