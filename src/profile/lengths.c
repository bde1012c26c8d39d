/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From powers of two to finer buckets. What is known of one sample is narrow: one thread, one
 * stack, one kind of wait. Where all its waits are in one power of two, their mean is measured, and
 * tells where in it they are; where they are in several, the same part of each is taken.
 */
#include "profile/lengths.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf/hist.h"
#include "profile/paths.h"

bool lengths_known(const struct profile *p)
{
	return p->nr_longest != 0;
}

void lengths_init(struct lengths *l, const struct profile *p)
{
	size_t at = 0;

	*l = (struct lengths){ .p = p };
	if (!lengths_known(p))
		return;
	l->first = xcalloc(p->nr_samples + 1, sizeof(*l->first));
	for (size_t i = 0; i <= p->nr_samples; i++) {
		while (at < p->nr_wait_buckets && p->wait_buckets[at].sample < i)
			at++;
		l->first[i] = at;
	}
}

void lengths_release(struct lengths *l)
{
	free(l->first);
	*l = (struct lengths){};
}

static uint64_t bucket_ns(size_t i)
{
	return i ? 1ull << (i + PROF_WAIT_BUCKET_SHIFT - 1) : 0;
}

/* The waits of one sample. */
struct spread {
	uint64_t count[PROF_WAIT_BUCKETS];
	size_t top;	 /* the highest bucket with waits */
	uint64_t max_ns; /* the longest, which is in it */
	double part;	 /* of its bucket, at which the mean of all others is, 0..1 */
};

/* The first nanosecond behind a bucket; none is longer than the longest. */
static uint64_t end_ns(const struct spread *s, size_t i)
{
	return i < s->top ? bucket_ns(i + 1) : s->max_ns + 1;
}

/*
 * The longest wait is known by itself. What is left has this sum, unless it is none of these waits:
 * of those whose stacks were left out the lengths fall to one sample, and the time to several.
 */
static void place(struct spread *s, uint64_t sum_ns)
{
	double least = 0, room = 0, sum = sum_ns > s->max_ns ? sum_ns - s->max_ns : 0;

	s->count[s->top]--;
	for (size_t i = 0; i <= s->top; i++) {
		least += (double)s->count[i] * bucket_ns(i);
		room += (double)s->count[i] * (end_ns(s, i) - bucket_ns(i));
	}
	s->part = room > 0 ? (sum - least) / room : 0;
	if (s->part < 0 || s->part > 1)
		s->part = 0.5;
}

/* nr waits, evenly from … end - 1. */
static void add_evenly(struct prof_hist *h, uint64_t nr, uint64_t from, uint64_t end)
{
	size_t i = prof_hist_index(from);
	uint64_t below = 0, now;

	for (; below < nr; i++) {
		now = runqlat_bucket_ns(i + 1) >= end
			      ? nr
			      : (double)nr * (runqlat_bucket_ns(i + 1) - from) / (end - from);
		h->count[i] += now - below;
		below = now;
	}
}

/* Around the mean, as far as the bucket goes on both sides. */
static void add_bucket(struct prof_hist *h, const struct spread *s, size_t i)
{
	uint64_t from = bucket_ns(i), end = end_ns(s, i), width = end - from;

	if (s->part < 0.5)
		end = from + 1 + (uint64_t)(2 * s->part * (width - 1));
	else
		from += (uint64_t)((2 * s->part - 1) * (width - 1));
	if (s->count[i])
		add_evenly(h, s->count[i], from, end);
}

static bool take(const struct lengths *l, size_t sample, struct spread *s)
{
	const struct profile *p = l->p;
	uint64_t from, end;

	*s = (struct spread){ .max_ns = p->longest[sample] };
	for (size_t k = l->first[sample]; k < l->first[sample + 1]; k++) {
		s->count[p->wait_buckets[k].index] += p->wait_buckets[k].count;
		if (p->wait_buckets[k].index > s->top)
			s->top = p->wait_buckets[k].index;
	}
	from = bucket_ns(s->top);
	end = s->top + 1 < PROF_WAIT_BUCKETS ? bucket_ns(s->top + 1) : UINT64_MAX;
	if (s->max_ns < from) /* the kernel could not write it down */
		s->max_ns = from;
	else if (s->max_ns >= end)
		s->max_ns = end - 1;
	return s->count[s->top];
}

void lengths_add(const struct lengths *l, size_t sample, struct prof_hist *h)
{
	uint64_t sum_ns = l->p->samples[sample].weight;
	struct spread s;

	if (!l->first || !take(l, sample, &s))
		return;
	place(&s, sum_ns);
	for (size_t i = 0; i <= s.top; i++)
		add_bucket(h, &s, i);
	h->count[prof_hist_index(s.max_ns)]++;
	h->sum_ns += sum_ns;
	if (s.max_ns > h->max_ns)
		h->max_ns = s.max_ns;
}

void class_lengths_init(struct class_lengths *c, const struct waits *w, const struct profile *p)
{
	struct lengths l;

	memset(c, 0, sizeof(*c));
	lengths_init(&l, p);
	for (size_t i = 0; i < p->nr_samples; i++)
		lengths_add(&l, i, w->idle_is[i] ? &c->idle : &c->by_class[w->class_of[i]]);
	lengths_release(&l);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct owner_lengths *)x)->name,
		      ((const struct owner_lengths *)y)->name);
}

/* Of a name in the tree. */
static struct owner_lengths *owner_of(struct owner_lengths **o, size_t *nr, size_t *cap,
				      uint32_t *row1_of, const struct tree *t, uint32_t name)
{
	if (!row1_of[name]) {
		*o = xgrow(*o, *nr, cap, sizeof(**o));
		(*o)[*nr] = (struct owner_lengths){ .name = xstrdup(t->names.bytes + name) };
		row1_of[name] = ++*nr;
	}
	return &(*o)[row1_of[name] - 1];
}

/* Of a wait that ended with a wait for a CPU that is the second part. */
static bool is_second_part(const struct sample *s, const struct view *v)
{
	return PROF_WAIT_KIND(s->wait) == PROF_WOKEN && v->by != VIEW_BY_CLASS && !v->classes;
}

struct owner_lengths *owner_lengths_new(const struct profile *p, const struct view *v, size_t *nr)
{
	struct owner_lengths *o = NULL;
	struct tree_paths paths = {};
	struct tree *t;
	uint32_t *row1_of;
	struct lengths l;
	size_t cap = 0;

	*nr = 0;
	if (!lengths_known(p))
		return NULL;
	t = tree_paths_new(p, v, &paths);
	row1_of = xcalloc(t->names.len + 1, sizeof(*row1_of));
	lengths_init(&l, p);
	for (size_t i = 0; i < paths.nr_paths; i++) {
		const struct path *path = &paths.paths[i];

		if (path->sample != PATH_LOST && path->nr &&
		    !is_second_part(&p->samples[path->sample], v))
			lengths_add(
				&l, path->sample,
				&owner_of(&o, nr, &cap, row1_of, t, paths.steps[path->first].name)
					 ->hist);
	}
	if (*nr)
		qsort(o, *nr, sizeof(*o), by_name);
	lengths_release(&l);
	free(row1_of);
	tree_paths_free(t, &paths);
	return o;
}

void owner_lengths_free(struct owner_lengths *o, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(o[i].name);
	free(o);
}

const struct prof_hist *owner_lengths_find(const struct owner_lengths *o, size_t nr,
					   const char *name)
{
	const struct owner_lengths key = { .name = (char *)name };
	const struct owner_lengths *row = nr ? bsearch(&key, o, nr, sizeof(*o), by_name) : NULL;

	return row ? &row->hist : NULL;
}
