/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When threads began and ended. Where programs start all the time there are many, each looked for
 * at its birth and its end: rows lie side by side, and are found with a look or two at memory.
 */
#include "collect/lifetimes.h"

#include <stdbool.h>
#include <stdlib.h>

#include <uthash.h>

#include "base/index.h"
#include "base/mem.h"

#define MANY	  16384u
#define SETTLE_NS 5000000000ull /* from the record of an end to the thread's last count */

struct lifetime {
	struct lifetime_key {
		uint32_t pid, tid;
	} key;
	uint64_t begin_ns, end_ns; /* 0 = before, or after the recording */
	uint64_t lived_ns;	   /* those who had the number before */
	const struct named *name;  /* NULL = none yet */
	bool written, counted;
};

/* What a thread was called, and for how long it waited under that name. */
struct named {
	struct named_key {
		uint32_t thread; /* number of its row */
		uint32_t process_name, thread_name;
	} key;
	uint64_t ns;
	UT_hash_handle hh;
};

struct lifetimes {
	struct lifetime *threads; /* in no order; they move when others come or are dropped */
	size_t nr, cap;
	struct index by_ids;
	uint64_t begin_ns;
	size_t many; /* more are looked through */
};

/* What a look-up compares with. */
struct sought {
	const struct lifetimes *l;
	struct lifetime_key key;
};

struct lifetimes *lifetimes_new(uint64_t begin_ns)
{
	struct lifetimes *l = xcalloc(1, sizeof(*l));

	l->begin_ns = begin_ns;
	l->many = MANY;
	return l;
}

void lifetimes_free(struct lifetimes *l)
{
	if (!l)
		return;
	index_release(&l->by_ids);
	free(l->threads);
	free(l);
}

size_t lifetimes_nr(const struct lifetimes *l)
{
	return l->nr;
}

static uint32_t hash_of(const struct lifetime_key *key)
{
	return index_hash(0, key, sizeof(*key));
}

static bool is_sought(const void *arg, uint32_t id)
{
	const struct sought *s = arg;
	const struct lifetime_key *key = &s->l->threads[id].key;

	return key->pid == s->key.pid && key->tid == s->key.tid;
}

/* Valid until another one is added. */
static struct lifetime *find(const struct lifetimes *l, uint32_t pid, uint32_t tid)
{
	struct sought s = { l, { pid, tid } };
	uint32_t id;

	return index_find(&l->by_ids, hash_of(&s.key), is_sought, &s, &id) ? &l->threads[id] : NULL;
}

static struct lifetime *add(struct lifetimes *l, uint32_t pid, uint32_t tid)
{
	struct lifetime *t;

	l->threads = xgrow(l->threads, l->nr, &l->cap, sizeof(*l->threads));
	t = &l->threads[l->nr];
	*t = (struct lifetime){ .key = { pid, tid } };
	index_add(&l->by_ids, hash_of(&t->key), l->nr++);
	return t;
}

static struct lifetime *get(struct lifetimes *l, uint32_t pid, uint32_t tid)
{
	struct lifetime *t = find(l, pid, tid);

	return t ? t : add(l, pid, tid);
}

/* The part of the recording until end_ns that it has lived, with those before it. */
static uint64_t wall_of(const struct lifetimes *l, const struct lifetime *t, uint64_t end_ns)
{
	uint64_t begin_ns = t->begin_ns > l->begin_ns ? t->begin_ns : l->begin_ns;

	if (t->end_ns && t->end_ns < end_ns)
		end_ns = t->end_ns;
	return t->lived_ns + (end_ns > begin_ns ? end_ns - begin_ns : 0);
}

void lifetimes_begin(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct lifetime *t;

	if (!l)
		return;
	t = find(l, pid, tid);
	if (t)
		t->lived_ns = wall_of(l, t, time_ns);
	else
		t = add(l, pid, tid);
	t->begin_ns = time_ns;
	t->end_ns = 0;
}

void lifetimes_begin_anew(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct lifetime *t;

	if (!l)
		return;
	t = get(l, pid, tid);
	t->lived_ns = 0;
	t->begin_ns = time_ns;
}

uint64_t lifetimes_between(const struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t begin_ns,
			   uint64_t end_ns)
{
	const struct lifetime *t = find(l, pid, tid);

	if (t && t->begin_ns > begin_ns)
		begin_ns = t->begin_ns;
	if (t && t->end_ns && t->end_ns < end_ns)
		end_ns = t->end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* One that has ended already ends as somebody whose birth was not told: it is merged. */
void lifetimes_end(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct lifetime *t;

	if (!l)
		return;
	t = get(l, pid, tid);
	if (!t->end_ns)
		t->end_ns = time_ns;
}

static void mark_counted(struct lifetimes *l, const struct prof_count *counts, size_t nr)
{
	struct lifetime *t;

	for (size_t i = 0; i < l->nr; i++)
		l->threads[i].counted = false; /* its counts may have been freed */
	for (size_t i = 0; i < nr; i++) {
		t = counts[i].tid ? find(l, counts[i].pid, counts[i].tid) : NULL;
		if (t)
			t->counted = true;
	}
}

/* Those that stay move together, and what finds them is made anew. */
static void drop_settled(struct lifetimes *l, uint64_t now_ns)
{
	size_t nr = 0;

	index_release(&l->by_ids);
	for (size_t i = 0; i < l->nr; i++) {
		struct lifetime *t = &l->threads[i];

		if (!t->counted && t->end_ns && t->end_ns + SETTLE_NS < now_ns)
			continue;
		l->threads[nr] = *t;
		index_add(&l->by_ids, hash_of(&l->threads[nr].key), nr);
		nr++;
	}
	l->nr = nr;
}

void lifetimes_drop(struct lifetimes *l, const struct prof_count *counts, size_t nr,
		    uint64_t now_ns)
{
	if (!l || l->nr < l->many)
		return;
	mark_counted(l, counts, nr);
	drop_settled(l, now_ns);
	l->many = 2 * l->nr;
	if (l->many < MANY)
		l->many = MANY;
}

static bool has_own(const struct profile *p, const struct sample *s)
{
	return s->tid && (!p->nr_merged || PROF_WAIT_KIND(s->wait) != PROF_ON_CPU);
}

static void add_name(struct named **names, struct lifetimes *l, const struct sample *s)
{
	const struct lifetime *t = get(l, s->pid, s->tid); /* threads may move for it */
	struct named_key key = { t - l->threads, s->process, s->thread };
	struct named *n;

	HASH_FIND(hh, *names, &key, sizeof(key), n);
	if (!n) {
		n = xcalloc(1, sizeof(*n));
		n->key = key;
		HASH_ADD(hh, *names, key, sizeof(n->key), n);
	}
	if (PROF_WAIT_KIND(s->wait) != PROF_ON_CPU)
		n->ns += s->weight;
}

/*
 * A thread begins with the name of the one that made it, and often waits under it, too. Its name
 * is the one that most time went by under, in all its waits; samples, whose weight may be no time,
 * only tell of a thread that has nothing else.
 */
static struct named *learn_names(struct lifetimes *l, const struct profile *p)
{
	struct named *names = NULL;

	for (size_t i = 0; i < p->nr_samples; i++)
		if (has_own(p, &p->samples[i]))
			add_name(&names, l, &p->samples[i]);
	for (struct named *n = names; n; n = n->hh.next) {
		struct lifetime *t = &l->threads[n->key.thread];

		if (!t->name || n->ns > t->name->ns)
			t->name = n;
	}
	return names;
}

void lifetimes_write(struct lifetimes *l, struct profile *p, uint64_t end_ns)
{
	struct named *names = l ? learn_names(l, p) : NULL, *n, *next;

	for (size_t i = 0; l && i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];
		struct lifetime *t = has_own(p, s) ? find(l, s->pid, s->tid) : NULL;
		struct thread_time time = { .pid = s->pid, .tid = s->tid };

		if (!t || t->written)
			continue;
		t->written = true;
		time.process = t->name->key.process_name;
		time.thread = t->name->key.thread_name;
		time.wall_ns = wall_of(l, t, end_ns);
		profile_add_thread(p, &time);
	}
	HASH_ITER (hh, names, n, next) {
		l->threads[n->key.thread].name = NULL;
		HASH_DEL(names, n);
		free(n);
	}
}
