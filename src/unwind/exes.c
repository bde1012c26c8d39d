/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of executables: who may have how many, and what becomes of those that nobody maps any
 * more. A process can map files as fast as it likes, and rows are for all.
 *
 *	free -> used, while a list of mappings names it -> resting -> free
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "proc/maps.h"
#include "unwind/publish.h"
#include "unwind/store_parts.h"

#define REST_NS	 2000000000ull /* programs that have read a list with it run for microseconds */
#define SWEEP_NS 1000000000ull /* at most so often */

/* A row that was never used, or has rested; 0 = there is none. */
static uint32_t free_row(struct store *s, uint64_t now)
{
	if (s->nr_exes < TABLE_MAX_EXES)
		return s->nr_exes++;
	for (uint32_t i = 1; i < s->nr_exes; i++)
		if (!s->by_index[i] && now - s->left_ns[i] > REST_NS)
			return i;
	return 0;
}

static void exe_free(struct store *s, struct exe *x, uint64_t now)
{
	static const struct table_exe none = { .state = TABLE_NONE };
	struct source *src = x->source;

	if (src->build && src->nr_rows == 1)
		builds_evict(s, src->build, now);
	publish_exe(&s->o.exes[x->index], &none);
	s->by_index[x->index] = NULL;
	s->left_ns[x->index] = now;
	s->nr_wanted -= x->wanted > 0;
	x->share->nr_rows--;
	if (!--src->nr_rows)
		source_drop(s, src);
	HASH_DEL(s->exes, x);
	free(x);
}

void exes_sweep(struct store *s, uint64_t now)
{
	bool *used;
	uint32_t nr = 0;

	if (now < s->swept_ns + SWEEP_NS)
		return;
	s->swept_ns = now;
	used = xcalloc(TABLE_MAX_EXES, sizeof(*used));
	lists_mark(s, used);
	for (uint32_t i = 1; i < s->nr_exes; i++) {
		if (used[i] || !s->by_index[i])
			continue;
		exe_free(s, s->by_index[i], now);
		nr++;
	}
	__atomic_fetch_add(s->o.epoch, 1, __ATOMIC_SEQ_CST);
	free(used);
	log_info("unwind tables: %u files that nobody maps any more are forgotten", nr);
}

static struct share *share_of(struct store *s, uint32_t uid)
{
	struct share *share;

	HASH_FIND(hh, s->shares, &uid, sizeof(uid), share);
	if (share)
		return share;
	share = xcalloc(1, sizeof(*share));
	share->uid = uid;
	HASH_ADD(hh, s->shares, uid, sizeof(share->uid), share);
	return share;
}

/* Rows are for all users: none but root may take more than a part. */
static bool is_greedy(const struct share *share)
{
	return share->uid && share->nr_rows >= EXES_OF_USER;
}

static struct exe *exe_new(struct store *s, const struct exe_key *key, struct share *share,
			   uint32_t index)
{
	struct exe *x = xcalloc(1, sizeof(*x));

	x->key = *key;
	x->index = index;
	x->share = share;
	x->source = source_get(s, key->file);
	x->source->nr_rows++;
	share->nr_rows++;
	s->by_index[index] = x;
	HASH_ADD(hh, s->exes, key, sizeof(x->key), x);
	store_set_state(s, x, TABLE_ABSENT);
	return x;
}

/* One warning for all of them. */
static void tell_no_row(const struct proc_file *file, const struct share *share)
{
	if (is_greedy(share))
		log_warn("%s: no unwind table: user %u already maps %u pieces of code: this one is "
			 "walked by frame pointer",
			 file->path, share->uid, share->nr_rows);
	else
		log_warn("%s: no unwind table: there are %u pieces of code already: this one is "
			 "walked by frame pointer",
			 file->path, TABLE_MAX_EXES);
}

struct exe *store_exe(struct store *s, uint32_t pid, const struct proc_mapping *m)
{
	struct exe_key key = { m->file, m->file_offset };
	uint64_t now = now_ns();
	struct share *share;
	uint32_t index, uid;
	struct exe *x;

	HASH_FIND(hh, s->exes, &key, sizeof(key), x);
	if (x)
		return x;
	if (maps_read_owner(pid, &uid))
		uid = EXES_NOBODY;
	share = share_of(s, uid);
	if (s->nr_exes == TABLE_MAX_EXES || is_greedy(share))
		s->sweep = true; /* when no list is in the making */
	index = is_greedy(share) ? 0 : free_row(s, now);
	if (index)
		return exe_new(s, &key, share, index);
	if (!s->stats.nr_no_row++)
		tell_no_row(m->file, share);
	return NULL;
}

void exes_release(struct store *s)
{
	struct share *share, *stmp;
	struct exe *x, *tmp;

	HASH_ITER (hh, s->exes, x, tmp) {
		HASH_DEL(s->exes, x);
		free(x);
	}
	HASH_ITER (hh, s->shares, share, stmp) {
		HASH_DEL(s->shares, share);
		free(share);
	}
}
