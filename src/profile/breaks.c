/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One piece per broken sample, sorted so that those of a row are neighbours, and within it those of
 * a function.
 */
#include "profile/breaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/remedy.h"

const char *break_module(const struct profile *p, const struct break_row *row)
{
	if (row->module)
		return profile_str(p, p->modules[row->module].path);
	switch (row->kind) {
	case FRAME_NONE:
		return "[none]";
	case FRAME_ANON:
		return PROFILE_JIT;
	case FRAME_PYTHON:
		return PROFILE_PYTHON;
	case FRAME_KERNEL:
		return "[kernel]";
	default:
		return "[unknown]";
	}
}

static struct break_row piece_of(const struct profile *p, const struct sample *s)
{
	uint32_t stack = sample_outer_half(s), outermost = profile_stack_root(p, stack);
	const struct frame *f = profile_frame_at(p, outermost);
	uint32_t module = profile_frame_module(p, outermost);

	return (struct break_row){ .module = module,
				   .process = module ? 0 : s->process,
				   .frame = outermost,
				   .kind = f->kind,
				   .end = stack_end(&p->stacks[stack]),
				   .samples = s->count,
				   .weight = s->weight };
}

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

static int row_compare(const struct break_row *a, const struct break_row *b)
{
	int order = compare(a->module, b->module);

	if (!order)
		order = compare(a->process, b->process);
	if (!order)
		order = compare(a->kind, b->kind);
	return order ? order : compare(a->end, b->end);
}

static uint32_t function_of(const struct profile *p, const struct break_row *piece)
{
	return profile_frame_at(p, piece->frame)->name;
}

static int by_function(const void *x, const void *y, void *profile)
{
	const struct break_row *a = x, *b = y;
	int order = row_compare(a, b);

	return order ? order : compare(function_of(profile, a), function_of(profile, b));
}

static int by_weight(const void *x, const void *y, void *profile)
{
	const struct break_row *a = x, *b = y;
	const struct profile *p = profile;
	int order;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	order = strcmp(break_module(p, a), break_module(p, b));
	if (!order)
		order = strcmp(profile_str(p, a->process), profile_str(p, b->process));
	return order ? order : row_compare(a, b);
}

/* Of pieces from one row, those of the first function: their number; their sum goes to *sum. */
static size_t add_function(const struct profile *p, const struct break_row *pieces, size_t nr,
			   struct break_row *sum)
{
	size_t i = 1;

	*sum = pieces[0];
	for (; i < nr && !by_function(&pieces[0], &pieces[i], (void *)p); i++) {
		sum->samples += pieces[i].samples;
		sum->weight += pieces[i].weight;
	}
	return i;
}

/* The row that begins at pieces; returns how many it takes. */
static size_t add_row(struct breaks *b, struct runtime_finder *finder,
		      const struct break_row *pieces, size_t nr)
{
	const struct profile *p = finder->profile;
	struct break_row row = pieces[0], function;
	uint64_t heaviest = 0;
	size_t i = 0;

	row.samples = row.weight = 0;
	while (i < nr && !row_compare(&row, &pieces[i])) {
		i += add_function(p, pieces + i, nr - i, &function);
		row.samples += function.samples;
		row.weight += function.weight;
		if (function.weight > heaviest) {
			heaviest = function.weight;
			row.frame = function.frame;
		}
	}
	row.remedy = remedy_new(p, &row, finder);
	b->rows = xgrow(b->rows, b->nr, &b->cap, sizeof(*b->rows));
	b->rows[b->nr++] = row;
	return i;
}

void breaks_init(struct breaks *b, const struct profile *p)
{
	struct break_row *pieces = xcalloc(p->nr_samples, sizeof(*pieces));
	struct runtime_finder finder = { .profile = p };
	size_t nr = 0;

	*b = (struct breaks){ .all = profile_stack_weight(p) };
	for (size_t i = 0; i < p->nr_samples; i++)
		if (sample_has_stack(&p->samples[i]) && !profile_is_rooted(p, &p->samples[i]))
			pieces[nr++] = piece_of(p, &p->samples[i]);
	if (nr)
		qsort_r(pieces, nr, sizeof(*pieces), by_function, (void *)p);
	for (size_t i = 0; i < nr;)
		i += add_row(b, &finder, pieces + i, nr - i);
	free(pieces);
	runtime_finder_release(&finder);
	for (size_t i = 0; i < b->nr; i++) {
		b->samples += b->rows[i].samples;
		b->weight += b->rows[i].weight;
	}
	if (b->nr)
		qsort_r(b->rows, b->nr, sizeof(*b->rows), by_weight, (void *)p);
}

void breaks_release(struct breaks *b)
{
	for (size_t i = 0; i < b->nr; i++)
		free(b->rows[i].remedy);
	free(b->rows);
}
