/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* First fit over sorted gaps: tables come and go rarely, and there are a few hundred of them. */
#include "unwind/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

#define REST_NS	    2000000000ull /* programs run for microseconds */
#define ALIGN_WORDS 8u		  /* nothing in a table may lie across two segments */

static size_t reserved_bytes(const struct segments *s)
{
	return (size_t)s->nr_places * TABLE_SEGMENT_BYTES;
}

void segments_limit(struct segments *s, uint64_t max_bytes)
{
	uint64_t max = max_bytes / TABLE_SEGMENT_BYTES;

	s->max = !max ? 1 : max > s->nr_places ? s->nr_places : max;
}

/* Addresses of all that the kernel's map could hold, or of fewer where these are limited. */
int segments_init(struct segments *s, segment_make make, segment_drop drop, void *arg,
		  uint64_t max_bytes)
{
	void *words = MAP_FAILED;

	*s = (struct segments){ .make = make, .drop = drop, .arg = arg };
	for (s->nr_places = 2 * TABLE_MAX_SEGMENTS; words == MAP_FAILED && s->nr_places > 1;) {
		s->nr_places /= 2;
		words = mmap(NULL, reserved_bytes(s), PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	if (words == MAP_FAILED)
		return -errno;
	s->words = words;
	segments_limit(s, max_bytes);
	return 0;
}

static void *segment_address(const struct segments *s, uint32_t index)
{
	return s->words + ((size_t)index << TABLE_SEGMENT_SHIFT);
}

void segments_release(struct segments *s)
{
	for (uint32_t i = 0; i < s->nr_places; i++) {
		if (s->list[i].made)
			s->drop(s->arg, i, segment_address(s, i));
		free(s->list[i].gaps);
	}
	if (s->words)
		munmap(s->words, reserved_bytes(s));
	free(s->resting);
	*s = (struct segments){};
}

static uint32_t round_up(uint32_t nr)
{
	return (nr + ALIGN_WORDS - 1) & ~(ALIGN_WORDS - 1);
}

static void gap_insert(struct segment *g, size_t at, uint32_t word, uint32_t nr)
{
	g->gaps = xgrow(g->gaps, g->nr_gaps, &g->cap_gaps, sizeof(*g->gaps));
	memmove(g->gaps + at + 1, g->gaps + at, (g->nr_gaps - at) * sizeof(*g->gaps));
	g->gaps[at] = (struct segment_range){ word, nr };
	g->nr_gaps++;
}

static void gap_remove(struct segment *g, size_t at)
{
	g->nr_gaps--;
	memmove(g->gaps + at, g->gaps + at + 1, (g->nr_gaps - at) * sizeof(*g->gaps));
}

/* Adds a gap, joined with those that it touches. */
static void gap_add(struct segment *g, uint32_t word, uint32_t nr)
{
	size_t i = 0;

	while (i < g->nr_gaps && g->gaps[i].word < word)
		i++;
	gap_insert(g, i, word, nr);
	if (i + 1 < g->nr_gaps && word + nr == g->gaps[i + 1].word) {
		g->gaps[i].nr += g->gaps[i + 1].nr;
		gap_remove(g, i + 1);
	}
	if (i > 0 && g->gaps[i - 1].word + g->gaps[i - 1].nr == word) {
		g->gaps[i - 1].nr += g->gaps[i].nr;
		gap_remove(g, i);
	}
}

static bool take_from(struct segment *g, uint32_t nr, uint32_t *word)
{
	for (size_t i = 0; i < g->nr_gaps; i++) {
		if (g->gaps[i].nr < nr)
			continue;
		*word = g->gaps[i].word;
		g->gaps[i].word += nr;
		g->gaps[i].nr -= nr;
		if (!g->gaps[i].nr)
			gap_remove(g, i);
		return true;
	}
	return false;
}

static int segment_add(struct segments *s, uint32_t index)
{
	struct segment *g = &s->list[index];
	int err = g->made ? 0 : s->make(s->arg, index, segment_address(s, index));

	if (err || g->made)
		return err;
	g->made = true;
	s->nr++;
	gap_add(g, 0, TABLE_SEGMENT_WORDS);
	return 0;
}

static void segment_remove(struct segments *s, uint32_t index)
{
	struct segment *g = &s->list[index];

	s->drop(s->arg, index, segment_address(s, index));
	g->made = false;
	g->nr_gaps = 0;
	s->nr--;
}

static bool is_empty(const struct segment *g)
{
	return g->made && g->nr_gaps == 1 && g->gaps[0].nr == TABLE_SEGMENT_WORDS;
}

/* The first of count numbers in a row of segments that are empty or, so many, not there. */
static bool find_numbers(const struct segments *s, uint32_t count, uint32_t *first,
			 uint32_t *missing)
{
	uint32_t run = 0;

	for (uint32_t i = 0; i < s->nr_places; i++) {
		if (s->list[i].made && !is_empty(&s->list[i])) {
			run = 0;
			continue;
		}
		if (!run++)
			*missing = 0;
		*missing += !s->list[i].made;
		*first = i + 1 - run;
		if (run == count)
			return true;
	}
	return false;
}

/* Makes sure of count empty segments in a row. */
static int add_segments(struct segments *s, uint32_t count, uint32_t *first)
{
	uint32_t missing = 0;
	int err = 0;

	if (!find_numbers(s, count, first, &missing) || s->nr + missing > s->max)
		return -ENOSPC;
	for (uint32_t i = 0; i < count && !err; i++)
		err = segment_add(s, *first + i);
	return err == -EINPROGRESS || !err ? err : -ENOSPC;
}

static int take_large(struct segments *s, uint32_t nr, uint32_t *word)
{
	uint32_t count = (nr + TABLE_SEGMENT_WORDS - 1) / TABLE_SEGMENT_WORDS, first, part;
	int err = add_segments(s, count, &first);

	for (uint32_t i = 0; i < count && !err; i++) {
		part = nr < TABLE_SEGMENT_WORDS ? nr : TABLE_SEGMENT_WORDS;
		take_from(&s->list[first + i], part, word);
		nr -= part;
	}
	*word = first << TABLE_SEGMENT_SHIFT;
	return err;
}

static uint64_t free_words(const struct segments *s)
{
	uint64_t words = 0;

	for (uint32_t i = 0; i < s->nr_places; i++)
		for (size_t k = 0; k < s->list[i].nr_gaps; k++)
			words += s->list[i].gaps[k].nr;
	return words;
}

void segments_expect(struct segments *s, uint64_t nr)
{
	uint64_t room = free_words(s);
	uint32_t more = 0;

	for (uint32_t i = 0; i < s->nr_places && room < nr && s->nr + more < s->max; i++) {
		if (s->list[i].made)
			continue;
		segment_add(s, i);
		room += TABLE_SEGMENT_WORDS;
		more += !s->list[i].made;
	}
}

int segments_take(struct segments *s, uint32_t nr, uint32_t *word)
{
	uint32_t index;
	int err;

	nr = round_up(nr);
	if (nr > TABLE_SEGMENT_WORDS)
		return take_large(s, nr, word);
	for (index = 0; index < s->nr_places; index++)
		if (s->list[index].made && take_from(&s->list[index], nr, word))
			break;
	if (index == s->nr_places) {
		err = add_segments(s, 1, &index);
		if (err)
			return err;
		take_from(&s->list[index], nr, word);
	}
	*word |= index << TABLE_SEGMENT_SHIFT;
	return 0;
}

void segments_give(struct segments *s, uint32_t word, uint32_t nr, uint64_t now_ns)
{
	s->resting = xgrow(s->resting, s->nr_resting, &s->cap_resting, sizeof(*s->resting));
	s->resting[s->nr_resting++] = (struct segment_resting){ { word, round_up(nr) }, now_ns };
}

/* A range back into the gaps of its segments, of which the first and the last may be shared. */
static void put_back(struct segments *s, struct segment_range r)
{
	uint32_t index, first, part;

	for (; r.nr; r.nr -= part, r.word += part) {
		index = r.word >> TABLE_SEGMENT_SHIFT;
		first = r.word & (TABLE_SEGMENT_WORDS - 1);
		part = TABLE_SEGMENT_WORDS - first;
		if (part > r.nr)
			part = r.nr;
		gap_add(&s->list[index], first, part);
		if (is_empty(&s->list[index]) && s->nr > 1)
			segment_remove(s, index);
	}
}

void segments_settle(struct segments *s, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr_resting; i++) {
		if (now_ns - s->resting[i].since_ns < REST_NS)
			s->resting[kept++] = s->resting[i];
		else
			put_back(s, s->resting[i].range);
	}
	s->nr_resting = kept;
}
