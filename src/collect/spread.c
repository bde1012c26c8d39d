/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups of counts that differ in their stacks alone, and what is done in each. */
#include "collect/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct group {
	struct prof_count **v; /* in the tally, by key, those without stacks first */
	size_t nr;
};

static bool is_bare(const struct prof_count *c)
{
	return c->wait & PROF_WAIT_NOT_SAMPLED;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Thread, name and kind. */
static int compare_keys(const struct prof_count *a, const struct prof_count *b)
{
	int order = compare(a->pid | (uint64_t)a->tid << 32, b->pid | (uint64_t)b->tid << 32);

	order = order ? order
		      : compare(a->wait & ~PROF_WAIT_NOT_SAMPLED, b->wait & ~PROF_WAIT_NOT_SAMPLED);
	return order ? order : memcmp(a->comm, b->comm, sizeof(a->comm));
}

static int by_key(const void *a, const void *b)
{
	const struct prof_count *x = *(struct prof_count *const *)a;
	const struct prof_count *y = *(struct prof_count *const *)b;
	int order = compare_keys(x, y);

	return order ? order : is_bare(y) - is_bare(x);
}

/* The share of a sum that falls to the first part of all; rounding loses nothing. */
static uint64_t share(uint64_t sum, double part, double all)
{
	return part >= all ? sum : (uint64_t)(sum * (part / all));
}

/* What the waits of a count stand for: one in 2^chain was taken. */
static double stands_for(const struct prof_count *c)
{
	return ldexp((double)c->weight, c->chain);
}

static void add_lengths(struct tally *t, size_t from, size_t to)
{
	struct tally_lengths *a = &t->lengths[from], *b = &t->lengths[to];

	for (size_t i = 0; i < PROF_WAIT_BUCKETS; i++)
		b->count[i] += a->count[i];
	b->max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns;
	*a = (struct tally_lengths){};
}

static struct prof_count sum_of(const struct group *g)
{
	struct prof_count sum = {};

	for (size_t i = 0; i < g->nr; i++) {
		sum.weight += g->v[i]->weight;
		sum.samples += g->v[i]->samples;
	}
	return sum;
}

/* What all have, and the first has without a stack, falls to those that have stacks. */
static void spread_one(struct tally *t, const struct group *g, double *factors)
{
	struct prof_count *bare = g->v[0], *largest = g->v[1], sum = sum_of(g), done = {};
	double all = 0, part = 0, before;

	for (size_t i = 1; i < g->nr; i++) {
		all += stands_for(g->v[i]);
		largest = stands_for(g->v[i]) > stands_for(largest) ? g->v[i] : largest;
	}
	for (size_t i = 1; i < g->nr; i++) {
		before = g->v[i]->weight;
		part += stands_for(g->v[i]);
		g->v[i]->weight = share(sum.weight, part, all) - done.weight;
		g->v[i]->samples = share(sum.samples, part, all) - done.samples;
		factors[g->v[i] - t->counts] = before > 0 ? g->v[i]->weight / before : 1;
		done.weight += g->v[i]->weight;
		done.samples += g->v[i]->samples;
	}
	if (t->nr_lengths)
		add_lengths(t, bare - t->counts, largest - t->counts);
	factors[bare - t->counts] = 0;
	bare->weight = bare->samples = 0;
}

/* There is one without stacks at most: their keys are the same but for the stacks. */
static uint64_t spread_group(struct tally *t, const struct group *g, double *factors)
{
	uint64_t ns = g->v[0]->weight;

	if (!is_bare(g->v[0]) || g->nr < 2 || is_bare(g->v[1]))
		return 0;
	spread_one(t, g, factors);
	return ns;
}

uint64_t spread_waits(struct tally *t, double *factors)
{
	struct prof_count **v = xcalloc(t->nr + 1, sizeof(*v));
	uint64_t ns = 0;
	size_t end;

	for (size_t i = 0; i < t->nr; i++) {
		v[i] = &t->counts[i];
		factors[i] = 1;
	}
	qsort(v, t->nr, sizeof(*v), by_key);
	for (size_t i = 0; i < t->nr; i = end) {
		for (end = i + 1; end < t->nr && !compare_keys(v[i], v[end]); end++)
			;
		ns += spread_group(t, &(struct group){ v + i, end - i }, factors);
	}
	free(v);
	return ns;
}
