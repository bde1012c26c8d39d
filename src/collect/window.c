/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks at counts that grow, and at threads whose waits have no end yet. */
#include "collect/window.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"

#define TID_BITS 16384u
#define MANY	 8192u /* sums, from where on they are looked through */

/* What a thread did when it was looked at last, and how much of it looks have so far. */
struct window_open {
	uint32_t tid;
	uint32_t id1, woken_id1; /* sums + 1 */
	uint64_t since, told_ns, woken_ns;
	uint64_t look; /* number of the last one that saw it so */
	bool moved;    /* it has begun something else since that one's counts were read */
	UT_hash_handle hh;
};

void window_init(struct window *w, const struct prof_count *counts, size_t nr_slots,
		 uint64_t length_ns, uint64_t begin_ns)
{
	*w = (struct window){ .counts = counts,
			      .nr_slots = nr_slots,
			      .slots = xcalloc(nr_slots, sizeof(*w->slots)),
			      .many = MANY,
			      .length_ns = length_ns,
			      .last_ns = begin_ns };
}

void window_take_lengths(struct window *w, const union prof_wait_hist *hists)
{
	endings_init(&w->endings, hists, w->nr_slots);
}

static void drop(struct window *w, struct window_open *o)
{
	HASH_DEL(w->opens, o);
	free(o);
}

void window_release(struct window *w)
{
	struct window_open *o, *next;

	HASH_ITER (hh, w->opens, o, next)
		drop(w, o);
	for (size_t i = 0; i < WINDOW_MAX_LOOKS; i++)
		free(w->looks[i].parts);
	tally_release(&w->sums);
	endings_release(&w->endings);
	free(w->slots);
	free(w->used);
	free(w->early);
	*w = (struct window){};
}

static struct window_look *look_at(struct window *w, size_t i)
{
	return &w->looks[(w->first + i) % WINDOW_MAX_LOOKS];
}

static struct window_look *last_look(struct window *w)
{
	return look_at(w, w->nr - 1);
}

static void add(struct window *w, uint32_t id, uint64_t samples, uint64_t weight, bool open)
{
	struct window_look *l = last_look(w);

	l->parts = xgrow(l->parts, l->nr, &l->cap, sizeof(*l->parts));
	l->parts[l->nr++] = (struct window_part){ samples, weight, id, open };
	w->sums.counts[id].samples += samples;
	w->sums.counts[id].weight += weight;
}

/* The oldest look leaves the window. */
static void take_out(struct window *w)
{
	struct window_look *l = look_at(w, 0);

	for (size_t i = 0; i < l->nr; i++) {
		w->sums.counts[l->parts[i].id].samples -= l->parts[i].samples;
		w->sums.counts[l->parts[i].id].weight -= l->parts[i].weight;
	}
	free(l->parts);
	*l = (struct window_look){};
	w->first = (w->first + 1) % WINDOW_MAX_LOOKS;
	w->nr--;
}

static uint32_t sum_of(struct window *w, const struct prof_count *key)
{
	struct prof_count fresh = *key;
	size_t had = w->cap_early;
	uint32_t id;

	fresh.samples = fresh.weight = 0;
	id = tally_add(&w->sums, &fresh, NULL, 0);
	w->early = xgrow(w->early, id, &w->cap_early, sizeof(*w->early));
	if (w->cap_early > had)
		memset(w->early + had, 0, (w->cap_early - had) * sizeof(*w->early));
	return id;
}

static uint32_t sum_of_slot(struct window *w, size_t slot)
{
	struct window_slot *s = &w->slots[slot];

	if (!s->id1)
		s->id1 = sum_of(w, &w->counts[slot]) + 1;
	return s->id1 - 1;
}

static void look_at_count(struct window *w, size_t slot)
{
	const struct prof_count *n = &w->counts[slot];
	struct window_slot *s = &w->slots[slot];
	uint64_t samples = __atomic_load_n(&n->samples, __ATOMIC_RELAXED);
	uint64_t weight = __atomic_load_n(&n->weight, __ATOMIC_RELAXED);

	if (samples == s->samples && weight == s->weight)
		return;
	if (PROF_WAIT_KIND(n->wait) != PROF_LIVED) {
		add(w, sum_of_slot(w, slot), samples - s->samples, weight - s->weight, false);
		endings_see(&w->endings, slot, s->id1 - 1, weight - s->weight);
	}
	s->samples = samples;
	s->weight = weight;
}

void window_begin(struct window *w, uint64_t now_ns)
{
	struct window_look *l;

	if (w->nr == WINDOW_MAX_LOOKS)
		take_out(w);
	w->nr++;
	l = last_look(w);
	l->begin_ns = w->last_ns;
	l->end_ns = now_ns;
	l->nr = 0;
	w->last_ns = now_ns;
	w->nr_looks++;
	w->nr_used = 0;
	if (w->length_ns != WINDOW_UNTIL_FORGOTTEN)
		endings_begin(&w->endings);
	for (size_t i = 0; i < w->nr_slots; i++) {
		if (!w->counts[i].hash)
			continue;
		w->used = xgrow(w->used, w->nr_used, &w->cap_used, sizeof(*w->used));
		w->used[w->nr_used++] = i;
		look_at_count(w, i);
	}
}

/* What it did has ended: its counts have, or will have, all of it. */
static void settle_part(struct window *w, uint32_t id1, uint64_t ns)
{
	if (!id1 || !ns)
		return;
	w->early[id1 - 1].ns += ns;
	w->early[id1 - 1].look = w->nr_looks;
}

static void settle(struct window *w, struct window_open *o)
{
	settle_part(w, o->id1, o->told_ns);
	settle_part(w, o->woken_id1, o->woken_ns);
}

static struct window_open *open_of(struct window *w, const struct prof_look *row)
{
	struct window_open *o;

	HASH_FIND(hh, w->opens, &row->tid, sizeof(row->tid), o);
	if (o && o->since == row->since)
		return o;
	if (o) {
		settle(w, o);
		o->told_ns = o->woken_ns = 0;
		o->id1 = o->woken_id1 = 0;
	} else {
		o = xcalloc(1, sizeof(*o));
		o->tid = row->tid;
		HASH_ADD(hh, w->opens, tid, sizeof(o->tid), o);
	}
	o->since = row->since;
	return o;
}

static uint32_t sum_of_row(struct window *w, const struct prof_look *row, uint32_t count,
			   uint32_t wait)
{
	struct prof_count key = { .pid = row->pid,
				  .tid = row->tid,
				  .ustack = row->ustack,
				  .kstack = row->kstack,
				  .wait = wait };

	if (count && count <= w->nr_slots && w->counts[count - 1].hash)
		return sum_of_slot(w, count - 1);
	memcpy(key.comm, row->comm, sizeof(key.comm));
	return sum_of(w, &key);
}

/* The part of [from, to) that lies in this look. */
static uint64_t part_of(const struct window_look *l, uint64_t from, uint64_t to)
{
	if (from < l->begin_ns)
		from = l->begin_ns;
	if (to > l->end_ns)
		to = l->end_ns;
	return to > from ? to - from : 0;
}

static uint32_t woken(uint32_t wait)
{
	return (wait & ~PROF_WAIT(15, 0, -1)) | PROF_WAIT(PROF_WOKEN, 0, -1);
}

void window_see(struct window *w, const struct prof_look *row)
{
	const struct window_look *l = last_look(w);
	uint64_t until = row->woken_ns > row->since ? row->woken_ns : UINT64_MAX;
	struct window_open *o = open_of(w, row);
	uint64_t ns = part_of(l, row->since, until);

	o->look = w->nr_looks;
	o->moved = row->since > l->end_ns;
	if (ns) {
		if (!o->id1)
			o->id1 = sum_of_row(w, row, row->count, row->wait) + 1;
		add(w, o->id1 - 1, 0, ns, true);
		o->told_ns += ns;
	}
	ns = until < UINT64_MAX ? part_of(l, until, UINT64_MAX) : 0;
	if (ns) {
		if (!o->woken_id1)
			o->woken_id1 = sum_of_row(w, row, row->count_woken, woken(row->wait)) + 1;
		add(w, o->woken_id1 - 1, 0, ns, true);
		o->woken_ns += ns;
	}
}

bool window_saw(const struct window *w, uint32_t tid)
{
	const struct window_open *o;

	HASH_FIND(hh, w->opens, &tid, sizeof(tid), o);
	return o != NULL;
}

/* What ended before a look is in counts by then, or at the latest by the next one. */
static bool is_awaited(const struct window *w, size_t id)
{
	return w->early[id].ns && w->early[id].look + 1 >= w->nr_looks;
}

static void take_off(struct window *w, struct window_part *part, uint32_t id)
{
	uint64_t *early = &w->early[id].ns;
	uint64_t ns = *early < part->weight ? *early : part->weight;

	*early -= ns;
	part->weight -= ns;
	w->sums.counts[part->id].weight -= ns;
}

/* Both of threads that ran. One that is not the first of its process becomes it by exec. */
static bool was_renamed(const struct window *w, const struct prof_count *from,
			const struct prof_count *to)
{
	if (PROF_WAIT_KIND(from->wait) != PROF_RUNNING || from->pid != to->pid)
		return false;
	return from->tid == to->tid || (to->tid == to->pid && !window_saw(w, from->tid));
}

/* What is left of the process once each sum has had its own. */
static void take_off_renamed(struct window *w)
{
	struct window_look *l = last_look(w);
	uint64_t bits[TID_BITS / 64] = {};

	for (size_t i = 0; i < w->sums.nr; i++) {
		uint32_t pid = w->sums.counts[i].pid;

		if (is_awaited(w, i) && PROF_WAIT_KIND(w->sums.counts[i].wait) == PROF_RUNNING)
			bits[pid % TID_BITS / 64] |= 1ull << pid % 64;
	}
	for (size_t i = 0; i < l->nr; i++) {
		struct window_part *part = &l->parts[i];
		const struct prof_count *to = &w->sums.counts[part->id];

		if (part->open || PROF_WAIT_KIND(to->wait) != PROF_RUNNING ||
		    !(bits[to->pid % TID_BITS / 64] & 1ull << to->pid % 64))
			continue;
		for (size_t k = 0; k < w->sums.nr && part->weight; k++)
			if (is_awaited(w, k) && was_renamed(w, &w->sums.counts[k], to))
				take_off(w, part, k);
	}
}

/* Nobody is asked twice for what an earlier look had. */
static void take_off_early(struct window *w)
{
	struct window_look *l = last_look(w);

	for (size_t i = 0; i < l->nr; i++)
		if (!l->parts[i].open && is_awaited(w, l->parts[i].id))
			take_off(w, &l->parts[i], l->parts[i].id);
	take_off_renamed(w);
}

static bool has_moved(const struct window *w, const struct window_open *o)
{
	return o->moved || o->look != w->nr_looks;
}

/*
 * Who has not been seen has ended what it did, too. Most counts are of threads that are long gone:
 * a bit for those that are asked for, by the low bits of their ids, keeps the rest out.
 */
static void look_at_moved(struct window *w)
{
	uint64_t bits[TID_BITS / 64] = {};
	struct window_open *o, *next;

	HASH_ITER (hh, w->opens, o, next)
		if (has_moved(w, o))
			bits[o->tid % TID_BITS / 64] |= 1ull << o->tid % 64;
	for (size_t i = 0; i < w->nr_used; i++) {
		uint32_t tid = w->counts[w->used[i]].tid;

		if (!(bits[tid % TID_BITS / 64] & 1ull << tid % 64))
			continue;
		HASH_FIND(hh, w->opens, &tid, sizeof(tid), o);
		if (o && has_moved(w, o))
			look_at_count(w, w->used[i]);
	}
}

void window_end(struct window *w)
{
	struct window_open *o, *next;

	look_at_moved(w);
	HASH_ITER (hh, w->opens, o, next)
		if (o->look != w->nr_looks) {
			settle(w, o);
			drop(w, o);
		}
	take_off_early(w);
	/* Looks do not come at equal intervals: a tenth of one more or less is no other window. */
	while (w->nr > 1 &&
	       w->last_ns - look_at(w, 1)->begin_ns + w->length_ns / 10 >= w->length_ns)
		take_out(w);
}

void window_forget_slot(struct window *w, size_t slot)
{
	w->slots[slot].id1 = 0;
}

/*
 * New numbers + 1 of sums that something refers to, 0 = of no others. To be freed. What counts have
 * not had by now they will not have: its thread was renamed while it ran, or the table was full.
 */
static uint32_t *keep_sums(struct window *w)
{
	uint32_t *id1s = xcalloc(w->sums.nr, sizeof(*id1s)), nr = 0;
	const struct window_open *o;

	for (size_t i = 0; i < w->nr; i++)
		for (size_t k = 0; k < look_at(w, i)->nr; k++)
			id1s[look_at(w, i)->parts[k].id] = 1;
	for (o = w->opens; o; o = o->hh.next) {
		if (o->id1)
			id1s[o->id1 - 1] = 1;
		if (o->woken_id1)
			id1s[o->woken_id1 - 1] = 1;
	}
	for (size_t i = 0; i < w->sums.nr; i++)
		id1s[i] = id1s[i] || is_awaited(w, i) ? ++nr : 0;
	return id1s;
}

static uint32_t renumber(const uint32_t *id1s, uint32_t id1)
{
	return id1 ? id1s[id1 - 1] : 0;
}

/* Slots: all of them. Who was seen may have claimed one after those in use had been looked for. */
static void renumber_all(struct window *w, const uint32_t *id1s)
{
	struct window_open *o;

	for (size_t i = 0; i < w->nr; i++)
		for (size_t k = 0; k < look_at(w, i)->nr; k++)
			look_at(w, i)->parts[k].id = id1s[look_at(w, i)->parts[k].id] - 1;
	for (o = w->opens; o; o = o->hh.next) {
		o->id1 = renumber(id1s, o->id1);
		o->woken_id1 = renumber(id1s, o->woken_id1);
	}
	for (size_t i = 0; i < w->nr_slots; i++)
		w->slots[i].id1 = renumber(id1s, w->slots[i].id1);
	for (size_t i = 0; i < w->endings.nr; i++)
		w->endings.rows[i].sample = id1s[w->endings.rows[i].sample] - 1;
}

void window_shrink(struct window *w)
{
	uint32_t *id1s;
	struct tally sums;

	if (w->sums.nr < w->many)
		return;
	id1s = keep_sums(w);
	renumber_all(w, id1s);
	sums = w->sums;
	w->sums = (struct tally){};
	for (size_t i = 0; i < sums.nr; i++) {
		if (!id1s[i])
			continue;
		w->early[id1s[i] - 1] = w->early[i]; /* never before it */
		tally_add(&w->sums, &sums.counts[i], NULL, 0);
	}
	if (w->cap_early > w->sums.nr)
		memset(w->early + w->sums.nr, 0, (w->cap_early - w->sums.nr) * sizeof(*w->early));
	tally_release(&sums);
	free(id1s);
	w->many = 2 * w->sums.nr > MANY ? 2 * w->sums.nr : MANY;
}

void window_forget(struct window *w)
{
	while (w->nr)
		take_out(w);
	endings_begin(&w->endings);
}

uint64_t window_first(const struct window *w)
{
	return w->nr_looks - w->nr;
}

uint64_t window_begin_ns(const struct window *w)
{
	return w->nr ? w->looks[w->first].begin_ns : w->last_ns;
}

uint64_t window_end_ns(const struct window *w)
{
	return w->last_ns;
}
