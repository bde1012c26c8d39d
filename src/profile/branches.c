/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Joining branches by the names of their ends. */
#include "profile/branches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void add(struct branches_row *to, const struct branches_row *from)
{
	to->count += from->count;
	to->mispredicted += from->mispredicted;
	to->untold += from->untold;
	to->cycles += from->cycles;
	to->timed += from->timed;
}

static int by_names(const void *x, const void *y)
{
	const struct branches_row *a = x, *b = y;
	int order = strcmp(a->from, b->from);

	return order ? order : strcmp(a->to, b->to);
}

static int by_misses(const void *x, const void *y)
{
	const struct branches_row *a = x, *b = y;

	if (a->mispredicted != b->mispredicted)
		return a->mispredicted > b->mispredicted ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return by_names(a, b);
}

static char *name_of(const struct profile *p, const struct view *v, uint32_t frame)
{
	uint32_t first;

	view_functions(v, p, frame, &first);
	return view_function(v, p, frame, first, false);
}

static void name_rows(struct branches *b, const struct profile *p, const struct view *v)
{
	for (size_t i = 0; i < p->nr_branches; i++) {
		const struct branch *from = &p->branches[i];
		struct branches_row row = { .from = name_of(p, v, from->from),
					    .to = name_of(p, v, from->to),
					    .from_frame = from->from,
					    .to_frame = from->to,
					    .count = from->count,
					    .mispredicted = from->mispredicted,
					    .untold = from->untold,
					    .cycles = from->cycles,
					    .timed = from->timed };

		b->rows = xgrow(b->rows, b->nr, &b->cap, sizeof(row));
		b->rows[b->nr++] = row;
		add(&b->all, &row);
	}
}

/* Of rows that are in order of names. */
static void join(struct branches *b)
{
	size_t nr = 0;

	for (size_t i = 0; i < b->nr; i++) {
		if (!nr || by_names(&b->rows[nr - 1], &b->rows[i])) {
			b->rows[nr++] = b->rows[i];
			continue;
		}
		add(&b->rows[nr - 1], &b->rows[i]);
		free(b->rows[i].from);
		free(b->rows[i].to);
	}
	b->nr = nr;
}

void branches_init(struct branches *b, const struct profile *p, const struct view *v)
{
	*b = (struct branches){};
	name_rows(b, p, v);
	if (!b->nr)
		return;
	qsort(b->rows, b->nr, sizeof(*b->rows), by_names);
	join(b);
	qsort(b->rows, b->nr, sizeof(*b->rows), by_misses);
}

void branches_release(struct branches *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		free(b->rows[i].from);
		free(b->rows[i].to);
	}
	free(b->rows);
}

double branches_mispredicted_pct(const struct branches_row *r)
{
	uint64_t told = r->count > r->untold ? r->count - r->untold : 0;

	return told ? 100.0 * r->mispredicted / told : NAN;
}

double branches_cycles(const struct branches_row *r)
{
	return r->timed ? (double)r->cycles / r->timed : NAN;
}
