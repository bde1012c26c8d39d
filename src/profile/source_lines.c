/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sorted twice: what is the same becomes neighbours, then the heaviest comes first. */
#include "profile/source_lines.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

void source_lines_add(struct source_lines *l, const struct source_line *row)
{
	l->rows = xgrow(l->rows, l->nr, &l->cap, sizeof(*l->rows));
	l->rows[l->nr++] = *row;
}

void source_lines_release(struct source_lines *l)
{
	free(l->rows);
}

static int by_place(const void *x, const void *y)
{
	const struct source_line *a = x, *b = y;

	if (a->of != b->of)
		return a->of < b->of ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_weight(const void *x, const void *y)
{
	const struct source_line *a = x, *b = y;

	if (a->of != b->of || a->weight == b->weight)
		return by_place(x, y);
	return a->weight > b->weight ? -1 : 1;
}

void source_lines_merge(struct source_lines *l)
{
	size_t nr = 0;

	if (!l->nr)
		return;
	qsort(l->rows, l->nr, sizeof(*l->rows), by_place);
	for (size_t i = 1; i < l->nr; i++) {
		if (by_place(&l->rows[nr], &l->rows[i]))
			l->rows[++nr] = l->rows[i];
		else
			l->rows[nr].weight += l->rows[i].weight;
	}
	l->nr = nr + 1;
	qsort(l->rows, l->nr, sizeof(*l->rows), by_weight);
}

const struct source_line *source_lines_find(const struct source_lines *l, uint32_t of)
{
	size_t low = 0, high = l->nr, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (l->rows[middle].of < of)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->nr && l->rows[low].of == of ? &l->rows[low] : NULL;
}
