/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Small branches of a series become part of their callers. Samples are sorted by their stacks, root
 * first, so that each branch is a range of them.
 */
#include <stdlib.h>

#include "push/series.h"

struct pruning {
	struct dictionary *d;
	struct series *s;
	double least[PROF_MAX_EVENTS]; /* of each value */
};

static uint32_t place_at(const struct dictionary *d, uint32_t sample, uint32_t depth)
{
	const struct dictionary_sample *s = &d->samples[sample];

	return d->stack[s->first + s->nr - 1 - depth];
}

static int by_stack(const void *x, const void *y, void *arg)
{
	const struct dictionary *d = arg;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	uint32_t nr_a = d->samples[a].nr, nr_b = d->samples[b].nr;

	for (uint32_t i = 0; i < nr_a && i < nr_b; i++) {
		uint32_t at_a = place_at(d, a, i), at_b = place_at(d, b, i);

		if (at_a != at_b)
			return at_a < at_b ? -1 : 1;
	}
	return nr_a == nr_b ? 0 : nr_a < nr_b ? -1 : 1;
}

static uint64_t *value_of(struct pruning *p, uint32_t sample, size_t i)
{
	return &p->d->values[sample * p->d->types.nr + p->s->columns[i]];
}

static bool is_small(struct pruning *p, size_t from, size_t to)
{
	for (size_t i = 0; i < p->s->types.nr; i++) {
		double sum = 0;

		for (size_t k = from; k < to; k++)
			sum += *value_of(p, p->s->samples[k], i);
		if (sum >= p->least[i])
			return false;
	}
	return true;
}

static void cut(struct pruning *p, size_t from, size_t to, uint32_t depth)
{
	for (size_t i = from; i < to; i++) {
		struct dictionary_sample *s = &p->d->samples[p->s->samples[i]];

		s->first += s->nr - depth;
		s->nr = depth;
	}
}

/* Samples from..to have the same depth outermost frames. As deep as stacks are. */
static void prune_range(struct pruning *p, size_t from, size_t to, uint32_t depth)
{
	const uint32_t *samples = p->s->samples;
	size_t end;

	while (from < to && p->d->samples[samples[from]].nr == depth)
		from++;
	for (; from < to; from = end) {
		uint32_t place = place_at(p->d, samples[from], depth);

		for (end = from; end < to && place_at(p->d, samples[end], depth) == place;)
			end++;
		if (depth && is_small(p, from, end))
			cut(p, from, end, depth);
		else
			prune_range(p, from, end, depth + 1);
	}
}

static void merge(struct pruning *p)
{
	struct series *s = p->s;
	size_t nr = 0;

	qsort_r(s->samples, s->nr, sizeof(*s->samples), by_stack, p->d);
	for (size_t i = 0; i < s->nr; i++) {
		if (!nr || by_stack(&s->samples[nr - 1], &s->samples[i], p->d)) {
			s->samples[nr++] = s->samples[i];
			continue;
		}
		for (size_t k = 0; k < s->types.nr; k++)
			*value_of(p, s->samples[nr - 1], k) += *value_of(p, s->samples[i], k);
	}
	s->nr = nr;
}

void series_prune(struct dictionary *d, struct series *s, double share)
{
	struct pruning p = { .d = d, .s = s };

	for (size_t i = 0; i < s->types.nr; i++) {
		double sum = 0;

		for (size_t k = 0; k < s->nr; k++)
			sum += *value_of(&p, s->samples[k], i);
		p.least[i] = share * sum;
	}
	if (share > 0) {
		qsort_r(s->samples, s->nr, sizeof(*s->samples), by_stack, d);
		prune_range(&p, 0, s->nr, 0);
	}
	merge(&p);
}
