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

/*
 * How many waits without a stack one with that stack stands for: one in 2^chain was taken. Where
 * all were, what has no stack lacks it for another reason: then each is as good.
 */
static double others(const struct prof_count *c, bool by_chance)
{
	return by_chance ? ldexp(1, c->chain) - 1 : 1;
}

static bool has_chance(const struct group *g)
{
	for (size_t i = 1; i < g->nr; i++)
		if (g->v[i]->chain && g->v[i]->weight)
			return true;
	return false;
}

/* Whose shares of a sum are to be found: all, and the first so far. */
struct part {
	double all, part;
	uint64_t sum, done;
};

static uint64_t next_part(struct part *p, double part)
{
	uint64_t before = p->done;

	p->part += part;
	p->done = share(p->sum, p->part, p->all);
	return p->done - before;
}

/* How many waits of each had that length: where none of them had, how many there were at all. */
static double *parts_of_length(const struct tally *t, const struct group *g, const double *nr,
			       size_t bucket)
{
	double *parts = xcalloc(g->nr, sizeof(*parts)), all = 0;
	bool chance = has_chance(g);

	for (size_t i = 1; i < g->nr; i++) {
		parts[i] = others(g->v[i], chance) * t->lengths[g->v[i] - t->counts].count[bucket];
		all += parts[i];
	}
	for (size_t i = 1; i < g->nr && !(all > 0); i++)
		parts[i] = nr[i];
	return parts;
}

/* Those of one length. Returns who got most of them. */
static size_t spread_length(struct tally *t, const struct group *g, const double *nr, size_t bucket)
{
	double *parts = parts_of_length(t, g, nr, bucket);
	struct part p = { .sum = t->lengths[g->v[0] - t->counts].count[bucket] };
	uint64_t got, most = 0;
	size_t who = 1;

	for (size_t i = 1; i < g->nr; i++)
		p.all += parts[i];
	for (size_t i = 1; i < g->nr; i++) {
		got = next_part(&p, parts[i]);
		t->lengths[g->v[i] - t->counts].count[bucket] += got;
		g->v[i]->samples += got;
		who = got > most ? i : who;
		most = got > most ? got : most;
	}
	free(parts);
	return who;
}

/* A wait falls to those whose waits were as long. Returns how many did. */
static uint64_t spread_lengths(struct tally *t, const struct group *g, const double *nr)
{
	struct tally_lengths *bare = &t->lengths[g->v[0] - t->counts], *longest = NULL;
	uint64_t done = 0;

	for (size_t i = 0; i < PROF_WAIT_BUCKETS; i++) {
		if (!bare->count[i])
			continue;
		longest = &t->lengths[g->v[spread_length(t, g, nr, i)] - t->counts];
		done += bare->count[i];
	}
	if (longest && bare->max_ns > longest->max_ns)
		longest->max_ns = bare->max_ns;
	*bare = (struct tally_lengths){};
	return done;
}

/*
 * What the first has, which has no stack, falls to those that have. The stack of a few long waits
 * has much of the time and few of the waits.
 */
static void spread_one(struct tally *t, const struct group *g, double *factors)
{
	struct prof_count *bare = g->v[0];
	struct part ns = { .sum = bare->weight }, nr = { .sum = bare->samples };
	double *number = xcalloc(g->nr, sizeof(*number)), before;
	bool chance = has_chance(g);

	for (size_t i = 1; i < g->nr; i++) {
		number[i] = others(g->v[i], chance) * g->v[i]->samples;
		nr.all += number[i];
		ns.all += others(g->v[i], chance) * g->v[i]->weight;
	}
	if (t->nr_lengths)
		nr.sum -= spread_lengths(t, g, number);
	for (size_t i = 1; i < g->nr; i++) {
		before = g->v[i]->weight;
		g->v[i]->weight += next_part(&ns, others(g->v[i], chance) * before);
		g->v[i]->samples += next_part(&nr, number[i]);
		factors[g->v[i] - t->counts] = before > 0 ? g->v[i]->weight / before : 1;
	}
	free(number);
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

/* Whether that stack is a guess for the other, in the same system call of the same thread. */
static bool is_like(const struct prof_count *bare, const struct prof_count *c)
{
	const uint32_t how = 0xffff; /* the system call, and the kind of the wait */

	return !is_bare(c) && c->weight && (c->wait & how) == (bare->wait & how) &&
	       !memcmp(bare->comm, c->comm, sizeof(c->comm));
}

/*
 * One that has not ended, or that is the only one of its state, is alone among its like. Its thread
 * has most likely waited where it mostly does in that system call. It stays what it is, so that it
 * can be told that it has not ended.
 */
static uint64_t guess(struct prof_count *bare, struct prof_count *const *v, size_t nr)
{
	const struct prof_count *best = NULL;

	for (size_t i = 0; i < nr; i++)
		if (is_like(bare, v[i]) && (!best || v[i]->weight > best->weight))
			best = v[i];
	if (!best)
		return 0;
	bare->ustack = best->ustack;
	bare->kstack = best->kstack;
	bare->wait &= ~PROF_WAIT_NOT_SAMPLED;
	return bare->weight;
}

/* Of all counts of a thread. */
static uint64_t guess_rest(struct prof_count *const *v, size_t nr)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < nr; i++)
		if (is_bare(v[i]) && v[i]->weight)
			ns += guess(v[i], v, nr);
	return ns;
}

static bool is_same_thread(const struct prof_count *a, const struct prof_count *b)
{
	return a->pid == b->pid && a->tid == b->tid;
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
	for (size_t i = 0; i < t->nr; i = end) {
		for (end = i + 1; end < t->nr && is_same_thread(v[i], v[end]); end++)
			;
		ns += guess_rest(v + i, end - i);
	}
	free(v);
	return ns;
}
