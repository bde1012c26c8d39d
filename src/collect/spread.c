/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups of counts that differ in their stacks alone, and what is done in each. */
#include "collect/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf/thin.h"

/* Of lengths that no wait is above which was not looked at. */
#define BUCKETS_SKIPPED 11
_Static_assert(1u << (PROF_WAIT_BUCKET_SHIFT + BUCKETS_SKIPPED - 1) == PROF_SKIPPED_NS,
	       "a bucket ends there");

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
	return by_chance ? ldexp(1, c->chain & (PROF_CHAIN_SKIP - 1)) - 1 : 1;
}

/* The same of waits that nobody looked at. */
static double others_skipped(const struct prof_count *c, bool by_chance)
{
	return by_chance ? ldexp(1, c->chain / PROF_CHAIN_SKIP) - 1 : 1;
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
		factors[g->v[i] - t->counts] *= before > 0 ? g->v[i]->weight / before : 1;
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

/* What was not looked at of a thread. */
static bool is_gap(const struct prof_count *c)
{
	return c->wait == PROF_GAP(PROF_BLOCKED) || c->wait == PROF_GAP(PROF_WOKEN) ||
	       c->wait == PROF_GAP(PROF_PREEMPTED);
}

/* May a part of that gap be its? Whether those that waited for a CPU were woken is not known. */
static bool has_part(const struct prof_count *gap, const struct prof_count *c)
{
	uint32_t kind = PROF_WAIT_KIND(c->wait);

	if (is_bare(c) || c->wait & (PROF_WAIT_OPEN | PROF_WAIT_BEFORE) || !c->weight ||
	    memcmp(c->comm, gap->comm, sizeof(c->comm)))
		return false;
	return PROF_WAIT_KIND(gap->wait) == PROF_BLOCKED
		       ? kind == PROF_BLOCKED
		       : kind == PROF_WOKEN || kind == PROF_PREEMPTED;
}

/* So many more waits, as long as the short ones that were seen. */
static void add_lengths(struct tally_lengths *of, uint64_t more, double nr)
{
	struct part p = { .sum = more, .all = nr };

	for (size_t i = 0; i < BUCKETS_SKIPPED; i++)
		if (of->count[i])
			of->count[i] += next_part(&p, of->count[i]);
}

/* Of a count, the waits that are as short as all in a gap are. */
struct brief {
	double nr, ns;
};

static struct brief brief_of(const struct tally *t, const struct prof_count *c)
{
	const struct tally_lengths *of = t->nr_lengths ? &t->lengths[c - t->counts] : NULL;
	struct brief b = {};

	if (!of)
		return (struct brief){ c->samples, c->weight };
	for (size_t i = 0; i < BUCKETS_SKIPPED; i++) {
		b.nr += of->count[i];
		b.ns += of->count[i] * 0.75 * ldexp(1, PROF_WAIT_BUCKET_SHIFT + i);
	}
	if (of->max_ns < PROF_SKIPPED_NS || b.ns > c->weight)
		b.ns = b.nr > 0 ? c->weight : 0;
	return b;
}

static uint64_t spread_gap(struct tally *t, struct prof_count *gap, struct prof_count *const *v,
			   size_t nr, double *factors)
{
	struct part ns = { .sum = gap->weight }, number = { .sum = gap->samples };
	struct brief *briefs = xcalloc(nr, sizeof(*briefs)), *b;
	bool chance = false;
	double before;
	uint64_t more;

	for (size_t i = 0; i < nr; i++)
		chance |= has_part(gap, v[i]) && v[i]->chain >= PROF_CHAIN_SKIP;
	for (size_t i = 0; i < nr; i++) {
		if (!has_part(gap, v[i]))
			continue;
		briefs[i] = brief_of(t, v[i]);
		ns.all += others_skipped(v[i], chance) * briefs[i].ns;
		if (PROF_WAIT_KIND(v[i]->wait) == PROF_WAIT_KIND(gap->wait))
			number.all += others_skipped(v[i], chance) * briefs[i].nr;
	}
	for (size_t i = 0; i < nr && ns.all > 0; i++) {
		b = &briefs[i];
		if (!(b->ns > 0))
			continue;
		before = v[i]->weight;
		v[i]->weight += next_part(&ns, others_skipped(v[i], chance) * b->ns);
		factors[v[i] - t->counts] *= v[i]->weight / before;
		if (PROF_WAIT_KIND(v[i]->wait) != PROF_WAIT_KIND(gap->wait))
			continue;
		more = next_part(&number, others_skipped(v[i], chance) * b->nr);
		v[i]->samples += more;
		if (t->nr_lengths)
			add_lengths(&t->lengths[v[i] - t->counts], more, b->nr);
	}
	free(briefs);
	if (!(ns.all > 0))
		return 0;
	gap->weight = 0;
	gap->samples = number.all > 0 ? 0 : gap->samples;
	factors[gap - t->counts] = 0;
	return ns.sum;
}

/* Of all counts of a thread. */
static uint64_t spread_gaps(struct tally *t, struct prof_count *const *v, size_t nr,
			    double *factors)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < nr; i++)
		if (is_gap(v[i]) && (v[i]->weight || v[i]->samples))
			ns += spread_gap(t, v[i], v, nr, factors);
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
		ns += spread_gaps(t, v + i, end - i, factors);
		ns += guess_rest(v + i, end - i);
	}
	free(v);
	return ns;
}
