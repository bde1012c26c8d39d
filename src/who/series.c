/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "who/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"

#define HOUR 360 /* windows of 10 s */

struct series_row {
	char *key;
	uint32_t used;
	UT_hash_handle hh;
};

/* A byte that no label has, since they are text, ends each of them. */
static char *key_of(const struct labels *l)
{
	char *key = NULL;
	size_t sz = 0;
	FILE *out = open_memstream(&key, &sz);

	if (!out)
		return xstrdup("");
	for (size_t i = 0; i < l->nr; i++)
		fprintf(out, "%s\1%s\1", l->v[i].name, l->v[i].value);
	fclose(out);
	return key;
}

static void forget(struct series *s, struct series_row *row)
{
	HASH_DEL(s->rows, row);
	free(row->key);
	free(row);
}

static void make_room(struct series *s)
{
	struct series_row *row, *next;

	HASH_ITER (hh, s->rows, row, next)
		if (s->now - row->used > HOUR)
			forget(s, row);
}

bool series_take(struct series *s, const struct labels *l)
{
	char *key = key_of(l);
	struct series_row *row;

	HASH_FIND_STR(s->rows, key, row);
	if (!row && HASH_COUNT(s->rows) >= s->max)
		make_room(s);
	if (!row && HASH_COUNT(s->rows) < s->max) {
		row = xcalloc(1, sizeof(*row));
		row->key = xstrdup(key);
		HASH_ADD_KEYPTR(hh, s->rows, row->key, strlen(row->key), row);
	}
	if (row)
		row->used = s->now;
	free(key);
	return row;
}

uint64_t series_count(const struct series *s)
{
	return HASH_COUNT(s->rows);
}

void series_release(struct series *s)
{
	struct series_row *row, *next;

	HASH_ITER (hh, s->rows, row, next)
		forget(s, row);
}
