/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each thread is asked for once: its counts lie all over the table. */
#include "collect/recycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define SETTLE_NS 3000000000ull /* from when a thread has no number any more to its last switch */
#define GIVEN_UP  1ull		/* no key hashes to it, but for one in 2^64 */
#define MAX_TID	  (1u << 22)	/* PID_MAX_LIMIT */
#define FIRST_PID 0xeffffffcu	/* the first PID namespace: PROC_PID_INIT_INO */

/* Two bits for each thread: asked for, and gone. Pages that nobody touches cost nothing. */
struct asked {
	uint64_t *known, *gone;
	bool (*is_gone)(uint32_t tid);
};

/* Also threads that may not be signalled are there. */
static bool is_gone(uint32_t tid)
{
	return syscall(SYS_tkill, tid, 0) && errno == ESRCH;
}

static bool never(uint32_t tid)
{
	return false;
}

static bool is_first_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == FIRST_PID;
}

void recycle_init(struct recycle *r, struct prof_count *counts, __u64 *used,
		  bool (*gone)(uint32_t tid))
{
	*r = (struct recycle){ .counts = counts, .used = used, .is_gone = gone };
	if (!gone)
		r->is_gone = is_first_namespace() ? is_gone : never;
}

void recycle_release(struct recycle *r)
{
	free(r->given_up);
	*r = (struct recycle){};
}

static struct asked asked_new(const struct recycle *r)
{
	uint64_t *bits = xcalloc(2 * MAX_TID / 64, sizeof(*bits));

	return (struct asked){ bits, bits + MAX_TID / 64, r->is_gone };
}

static bool ask(const struct asked *a, uint32_t tid)
{
	uint64_t bit = 1ull << tid % 64;

	if (!tid || tid >= MAX_TID)
		return false;
	if (!(a->known[tid / 64] & bit)) {
		a->known[tid / 64] |= bit;
		a->gone[tid / 64] |= a->is_gone(tid) ? bit : 0;
	}
	return a->gone[tid / 64] & bit;
}

/* Another one with that number may have begun meanwhile: its counts are claimed anew. */
static void give_up(struct recycle *r, const struct window *w, uint32_t slot, uint64_t now_ns)
{
	uint64_t hash = r->counts[slot].hash;

	if (!hash || hash == GIVEN_UP ||
	    !__atomic_compare_exchange_n(&r->counts[slot].hash, &hash, GIVEN_UP, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	r->given_up = xgrow(r->given_up, r->nr, &r->cap, sizeof(*r->given_up));
	r->given_up[r->nr++] = (struct recycle_slot){ hash, w->slots[slot].samples,
						      w->slots[slot].weight, now_ns, slot };
}

void recycle_look(struct recycle *r, const struct window *w, uint64_t now_ns)
{
	struct asked a = asked_new(r);

	for (size_t i = 0; i < w->nr_used; i++) {
		uint32_t tid = r->counts[w->used[i]].tid;

		if (ask(&a, tid) && !window_saw(w, tid))
			give_up(r, w, w->used[i], now_ns);
	}
	free(a.known);
}

/* The hash goes last: from then on programs may claim it. */
static void set_free(struct recycle *r, struct window *w, uint32_t slot)
{
	struct prof_count *c = &r->counts[slot];

	window_forget_slot(w, slot);
	c->pid = c->tid = 0;
	c->ustack = c->kstack = 0;
	c->wait = c->chain = 0;
	memset(c->comm, 0, sizeof(c->comm));
	__atomic_store_n(&c->hash, 0, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(r->used, 1, __ATOMIC_SEQ_CST);
	r->nr_freed++;
}

/* Since it was given up; a look in between may have seen that. */
static bool has_grown(const struct recycle *r, const struct recycle_slot *s)
{
	const struct prof_count *n = &r->counts[s->slot];

	return __atomic_load_n(&n->samples, __ATOMIC_RELAXED) != s->samples ||
	       __atomic_load_n(&n->weight, __ATOMIC_RELAXED) != s->weight;
}

void recycle_turn(struct recycle *r, struct window *w, uint64_t now_ns)
{
	struct asked a;
	size_t nr;

	for (nr = 0; nr < r->nr && now_ns >= r->given_up[nr].since_ns + SETTLE_NS; nr++)
		;
	if (!nr)
		return;
	a = asked_new(r);
	for (size_t i = 0; i < nr; i++) {
		const struct recycle_slot *s = &r->given_up[i];

		if (ask(&a, r->counts[s->slot].tid) && !has_grown(r, s))
			set_free(r, w, s->slot);
		else
			__atomic_store_n(&r->counts[s->slot].hash, s->hash, __ATOMIC_SEQ_CST);
	}
	r->nr -= nr;
	memmove(r->given_up, r->given_up + nr, r->nr * sizeof(*r->given_up));
	free(a.known);
}
