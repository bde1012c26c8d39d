/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files by identity, in the order in which they were put. */
#include "unwind/shelf.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"
#include "unwind/store_parts.h"

struct item {
	struct file_id id;
	struct source source;
	struct build build; /* the source's */
	UT_hash_handle hh;
};

struct shelf {
	struct item *items; /* those that were put last come last */
	size_t max_bytes;
};

struct shelf *shelf_new(size_t max_bytes)
{
	struct shelf *s = xcalloc(1, sizeof(*s));

	s->max_bytes = max_bytes;
	return s;
}

static void drop(struct shelf *s, struct item *i)
{
	HASH_DEL(s->items, i);
	free(i->source.code);
	free(i->build.table.words);
	free(i);
}

void shelf_free(struct shelf *s)
{
	struct item *i, *next;

	if (!s)
		return;
	HASH_ITER (hh, s->items, i, next)
		drop(s, i);
	free(s);
}

static size_t bytes_of(const struct item *i)
{
	size_t words = i->build.table.words ? i->build.table.nr_words : 0;

	return sizeof(*i) + i->source.nr_code * sizeof(*i->source.code) +
	       words * sizeof(*i->build.table.words);
}

static void make_room(struct shelf *s)
{
	struct item *i, *next;
	size_t bytes = 0;

	HASH_ITER (hh, s->items, i, next)
		bytes += bytes_of(i);
	HASH_ITER (hh, s->items, i, next) {
		if (bytes <= s->max_bytes)
			break;
		bytes -= bytes_of(i);
		drop(s, i);
	}
}

static struct item *find(const struct shelf *s, const struct file_id *id)
{
	struct item *i = NULL;

	if (s)
		HASH_FIND(hh, s->items, id, sizeof(*id), i);
	return i;
}

void shelf_put(struct shelf *s, const struct source *src)
{
	struct item *i = find(s, &src->file->id);

	if (!src->nr_code || !src->file->was_settled || !file_id_is_known(&src->file->id))
		return;
	if (i)
		drop(s, i);
	i = xcalloc(1, sizeof(*i));
	i->id = src->file->id;
	i->source = (struct source){ .words = src->words,
				     .has_python = src->has_python,
				     .nr_code = src->nr_code };
	i->source.code = xcopy(src->code, src->nr_code, sizeof(*src->code));
	if (src->build) {
		i->build.table = src->build->table;
		i->build.table.words = xcopy(src->build->table.words, src->build->table.nr_words,
					     sizeof(*src->build->table.words));
		i->source.build = &i->build;
	}
	HASH_ADD(hh, s->items, id, sizeof(i->id), i);
	make_room(s);
}

struct source *shelf_find(const struct shelf *s, const struct file_id *id)
{
	struct item *i = find(s, id);

	return i ? &i->source : NULL;
}
