/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When threads began and ended. */
#include "collect/lifetimes.h"

#include <stdbool.h>
#include <stdlib.h>

#include <uthash.h>

#include "base/mem.h"

#define MANY	  65536u
#define SETTLE_NS 5000000000ull /* from the record of an end to the thread's last count */

struct lifetime {
	struct lifetime_key {
		uint32_t pid, tid;
	} key;
	uint64_t begin_ns, end_ns; /* 0 = before, or after the recording */
	uint64_t lived_ns;	   /* those who had the number before */
	uint64_t named_ns;	   /* most that was counted under a name of it, */
	uint32_t process, thread;  /* and those names */
	bool written, counted;
	UT_hash_handle hh;
};

struct lifetimes {
	struct lifetime *threads;
	uint64_t begin_ns;
	size_t many; /* more are looked through */
};

struct lifetimes *lifetimes_new(uint64_t begin_ns)
{
	struct lifetimes *l = xcalloc(1, sizeof(*l));

	l->begin_ns = begin_ns;
	l->many = MANY;
	return l;
}

static void drop(struct lifetimes *l, struct lifetime *t)
{
	HASH_DEL(l->threads, t);
	free(t);
}

void lifetimes_free(struct lifetimes *l)
{
	struct lifetime *t, *next;

	if (!l)
		return;
	HASH_ITER (hh, l->threads, t, next)
		drop(l, t);
	free(l);
}

size_t lifetimes_nr(const struct lifetimes *l)
{
	return HASH_COUNT(l->threads);
}

static struct lifetime *find(const struct lifetimes *l, uint32_t pid, uint32_t tid)
{
	struct lifetime_key key = { pid, tid };
	struct lifetime *t;

	HASH_FIND(hh, l->threads, &key, sizeof(key), t);
	return t;
}

static struct lifetime *add(struct lifetimes *l, uint32_t pid, uint32_t tid)
{
	struct lifetime *t = xcalloc(1, sizeof(*t));

	t->key = (struct lifetime_key){ pid, tid };
	HASH_ADD(hh, l->threads, key, sizeof(t->key), t);
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

	for (size_t i = 0; i < nr; i++) {
		t = counts[i].tid ? find(l, counts[i].pid, counts[i].tid) : NULL;
		if (t)
			t->counted = true;
	}
}

void lifetimes_drop(struct lifetimes *l, const struct prof_count *counts, size_t nr,
		    uint64_t now_ns)
{
	struct lifetime *t, *next;

	if (!l || lifetimes_nr(l) < l->many)
		return;
	mark_counted(l, counts, nr);
	HASH_ITER (hh, l->threads, t, next)
		if (!t->counted && t->end_ns && t->end_ns + SETTLE_NS < now_ns)
			drop(l, t);
	l->many = 2 * lifetimes_nr(l);
	if (l->many < MANY)
		l->many = MANY;
}

static bool has_own(const struct profile *p, const struct sample *s)
{
	return s->tid && (!p->nr_merged || PROF_WAIT_KIND(s->wait) != PROF_ON_CPU);
}

/*
 * A thread begins with the name of the one that made it, and often waits under it, too. Its name
 * is the one that most time went by under; samples, whose weight may be no time, only tell of a
 * thread that has nothing else.
 */
static void learn_name(struct lifetime *t, const struct sample *s)
{
	uint64_t ns = PROF_WAIT_KIND(s->wait) != PROF_ON_CPU ? s->weight : 0;

	if (t->thread && ns <= t->named_ns)
		return;
	t->named_ns = ns;
	t->process = s->process;
	t->thread = s->thread;
}

void lifetimes_write(struct lifetimes *l, struct profile *p, uint64_t end_ns)
{
	for (size_t i = 0; l && i < p->nr_samples; i++)
		if (has_own(p, &p->samples[i]))
			learn_name(get(l, p->samples[i].pid, p->samples[i].tid), &p->samples[i]);
	for (size_t i = 0; l && i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];
		struct lifetime *t = has_own(p, s) ? find(l, s->pid, s->tid) : NULL;
		struct thread_time time = { .pid = s->pid, .tid = s->tid };

		if (!t || t->written)
			continue;
		t->written = true;
		time.process = t->process;
		time.thread = t->thread;
		time.wall_ns = wall_of(l, t, end_ns);
		profile_add_thread(p, &time);
	}
}
