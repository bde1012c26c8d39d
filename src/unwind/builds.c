/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of files: built once, placed where the kernel reads them, and evicted for others. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "unwind/reading.h"
#include "unwind/room.h"
#include "unwind/store_parts.h"

#define COOL_NS	     5000000000ull /* a table that was taken away is not built again before */
#define MAX_REFUSALS 4		   /* that make the next one last longer */

void builds_drop(struct build *b)
{
	if (b)
		table_release(&b->table);
	free(b);
}

void builds_refuse(struct store *s, struct exe *x, uint64_t now)
{
	store_set_state(s, x, TABLE_REFUSED);
	x->not_before_ns =
		now + (COOL_NS << (x->refusals < MAX_REFUSALS ? x->refusals : MAX_REFUSALS));
	/* Later ones do not put off those before. */
	if (!s->next_thaw_ns || x->not_before_ns < s->next_thaw_ns)
		s->next_thaw_ns = x->not_before_ns;
}

void builds_thaw(struct store *s, uint64_t now)
{
	if (!s->next_thaw_ns || now < s->next_thaw_ns)
		return;
	s->next_thaw_ns = 0;
	for (uint32_t i = 1; i < s->nr_exes; i++) {
		struct exe *x = s->by_index[i];

		if (!x || s->o.exes[i].state != TABLE_REFUSED)
			continue;
		if (x->not_before_ns <= now)
			store_set_state(s, x, TABLE_ABSENT);
		else if (!s->next_thaw_ns || x->not_before_ns < s->next_thaw_ns)
			s->next_thaw_ns = x->not_before_ns;
	}
}

void builds_evict(struct store *s, struct build *b, uint64_t now)
{
	for (uint32_t i = 1; i < s->nr_exes; i++) {
		if (!s->by_index[i] || s->by_index[i]->build != b)
			continue;
		s->by_index[i]->build = NULL;
		s->by_index[i]->source->build = NULL;
		builds_refuse(s, s->by_index[i], now);
	}
	__atomic_fetch_add(s->o.epoch, 1, __ATOMIC_SEQ_CST);
	segments_give(&s->segments, b->word, b->table.nr_words, now);
	s->stats.nr_tables--;
	s->stats.nr_evicted++;
	s->stats.nr_rows -= b->table.nr_rows;
	s->stats.table_bytes -= b->table.nr_words * sizeof(uint32_t);
	free(b);
}

/*
 * 0: it was used in the last seconds. The epoch is a counter that may wrap: differences are what
 * counts.
 */
static uint32_t age_of(const struct store *s, const struct exe *x)
{
	uint32_t used = s->o.exes[x->index].used;

	return (int32_t)(used - s->epochs[1]) < 0 ? s->epochs[1] - used : 0;
}

/*
 * Tables and lists as they lie in memory; tables first, with theirs in builds. Those in use may go
 * as well with any. To free().
 */
static struct room_range *occupied(const struct store *s, bool any, struct build **builds,
				   size_t *nr)
{
	struct room_range *v = xcalloc(s->nr_exes + HASH_COUNT(s->lists), sizeof(*v));
	struct list *l, *tmp;
	size_t n = 0, i;

	for (uint32_t k = 1; k < s->nr_exes; k++) {
		struct build *b = s->by_index[k] ? s->by_index[k]->build : NULL;
		uint32_t age = b ? age_of(s, s->by_index[k]) + any : 0;

		for (i = 0; i < n && builds[i] != b; i++)
			;
		if (!b || (i < n && v[i].age <= age))
			continue;
		v[i] = (struct room_range){ .word = b->word, .nr = b->table.nr_words, .age = age };
		builds[i] = b;
		n += i == n;
	}
	*nr = n;
	HASH_ITER (hh, s->lists, l, tmp)
		if (l->nr_words)
			v[(*nr)++] = (struct room_range){ .word = l->word, .nr = l->nr_words };
	return v;
}

bool builds_evict_for(struct store *s, uint32_t nr_words, bool any, uint64_t now)
{
	struct build **builds = xcalloc(s->nr_exes, sizeof(*builds));
	size_t nr;
	struct room_range *v = occupied(s, any, builds, &nr);
	bool found = room_find(&s->segments, v, nr, nr_words);

	for (size_t i = 0; i < nr && found; i++)
		if (v[i].goes)
			builds_evict(s, builds[i], now);
	free(builds);
	free(v);
	return found;
}

/* Room for a table. What is evicted can be used a little later only, so this may have to wait. */
static int make_room(struct store *s, uint32_t nr_words, uint32_t *word, uint64_t now)
{
	int err = segments_take(&s->segments, nr_words, word);

	if (err == -ENOSPC && !builds_evict_for(s, nr_words, false, now))
		s->no_room_words = nr_words;
	return err;
}

/* Moves a finished table to where the kernel reads it. */
static int build_place(struct store *s, struct build *b, uint64_t now)
{
	uint32_t *words = b->table.words;
	int err = make_room(s, b->table.nr_words, &b->word, now);

	if (err)
		return err;
	b->table.words = s->segments.words + b->word;
	memcpy(b->table.words, words, b->table.nr_words * sizeof(*words));
	free(words);
	s->stats.nr_tables++;
	s->stats.nr_rows += b->table.nr_rows;
	s->stats.table_bytes += b->table.nr_words * sizeof(uint32_t);
	return 0;
}

/* Off the shelf: nobody else needs it. */
static bool take_shelved(struct store *s, const struct source *src, struct table *t)
{
	struct source *shelved = shelf_find(s->o.shelf, &src->file->id);

	if (!shelved || !shelved->build)
		return false;
	*t = shelved->build->table;
	shelved->build->table.words = NULL;
	shelved->build = NULL;
	s->stats.nr_taken++;
	return true;
}

/* That file has been read before, and its table lies there. False: it does not. */
static bool take_earlier(struct store *s, const struct source *src, struct table *t)
{
	const struct source *earlier;

	if (take_shelved(s, src, t))
		return true;
	earlier = source_earlier(s, src);
	if (!earlier || !earlier->build)
		return false;
	*t = earlier->build->table;
	t->words = xcalloc(t->nr_words, sizeof(*t->words));
	memcpy(t->words, earlier->build->table.words, t->nr_words * sizeof(*t->words));
	s->stats.nr_taken++;
	return true;
}

static int build_make(struct store *s, const struct source *src, struct build **out)
{
	struct build *b = xcalloc(1, sizeof(*b));
	int err = take_earlier(s, src, &b->table) ? 0 : read_table(s, src, &b->table);

	if (!err && !proc_file_is_same(src->file))
		err = -ESTALE;
	*out = b;
	if (err)
		builds_drop(b);
	return err;
}

int builds_get(struct store *s, struct source *src, uint64_t now)
{
	struct build *b = s->unplaced;
	int err = 0;

	if (src->build)
		return 0;
	s->unplaced = NULL;
	if (!b || s->unplaced_of != src) {
		builds_drop(b);
		err = build_make(s, src, &b);
		if (err)
			return err;
	}
	err = build_place(s, b, now);
	if (!err) {
		src->build = b;
	} else if (err == -EINPROGRESS) {
		s->unplaced = b;
		s->unplaced_of = src;
	} else {
		builds_drop(b);
	}
	return err;
}
