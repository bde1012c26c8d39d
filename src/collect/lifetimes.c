/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When threads began and ended. */
#include "collect/lifetimes.h"

#include <stdlib.h>

#include <uthash.h>

#include "base/mem.h"

struct lifetime {
	struct lifetime_key {
		uint32_t pid, tid;
	} key;
	uint64_t begin_ns, end_ns; /* 0 = before, or after the recording */
	bool written;
	UT_hash_handle hh;
};

struct lifetimes {
	struct lifetime *threads;
};

struct lifetimes *lifetimes_new(void)
{
	return xcalloc(1, sizeof(struct lifetimes));
}

void lifetimes_free(struct lifetimes *l)
{
	struct lifetime *t, *next;

	if (!l)
		return;
	HASH_ITER (hh, l->threads, t, next) {
		HASH_DEL(l->threads, t);
		free(t);
	}
	free(l);
}

static struct lifetime *find(const struct lifetimes *l, uint32_t pid, uint32_t tid)
{
	struct lifetime_key key = { pid, tid };
	struct lifetime *t;

	HASH_FIND(hh, l->threads, &key, sizeof(key), t);
	return t;
}

static struct lifetime *get(struct lifetimes *l, uint32_t pid, uint32_t tid)
{
	struct lifetime *t = find(l, pid, tid);

	if (t)
		return t;
	t = xcalloc(1, sizeof(*t));
	t->key = (struct lifetime_key){ pid, tid };
	HASH_ADD(hh, l->threads, key, sizeof(t->key), t);
	return t;
}

void lifetimes_begin(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	if (l)
		get(l, pid, tid)->begin_ns = time_ns;
}

void lifetimes_end(struct lifetimes *l, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	if (l)
		get(l, pid, tid)->end_ns = time_ns;
}

/* The part of begin … end that it lived. */
static uint64_t wall_of(const struct lifetime *t, uint64_t begin_ns, uint64_t end_ns)
{
	if (t->begin_ns > begin_ns)
		begin_ns = t->begin_ns;
	if (t->end_ns && t->end_ns < end_ns)
		end_ns = t->end_ns;
	return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

void lifetimes_write(struct lifetimes *l, struct profile *p, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t i = 0; l && i < p->nr_samples; i++) {
		const struct sample *s = &p->samples[i];
		struct lifetime *t = s->tid ? get(l, s->pid, s->tid) : NULL;
		struct thread_time time = {
			.pid = s->pid, .tid = s->tid, .process = s->process, .thread = s->thread
		};

		if (!t || t->written)
			continue;
		t->written = true;
		time.wall_ns = wall_of(t, begin_ns, end_ns);
		profile_add_thread(p, &time);
	}
}
