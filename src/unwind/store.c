/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Executables: which there are, whose table is built when, and how the kernel hears of it. */
#include "unwind/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "proc/maps.h"
#include "unwind/publish.h"
#include "unwind/rule.h"
#include "unwind/store_parts.h"

#define MEMORY_NS  100000000ull
#define NEVER_NS   (1ull << 63)
#define AGE_EVERY  20 /* turns: then what is in use is asked anew, if room is short */
#define LEAST_PART 4  /* of all room, beside an earlier store */
#define SHORT_PART 4  /* room is short when less than this part is left */

/* Of both together no more than one may have, as far as that goes. */
static uint64_t bytes_beside(const struct store *earlier, uint64_t max_bytes)
{
	uint64_t least = max_bytes / LEAST_PART + TABLE_SEGMENT_BYTES - 1;
	uint64_t taken = (uint64_t)earlier->segments.nr * TABLE_SEGMENT_BYTES;

	return taken + least < max_bytes ? max_bytes - taken : least;
}

struct store *store_new(const struct store_opts *o)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int err;

	s->o = *o;
	err = segments_init(&s->segments, o->ops->segment_make, o->ops->segment_drop, o->arg,
			    o->earlier ? bytes_beside(o->earlier, o->max_bytes) : o->max_bytes);
	if (err) {
		free(s);
		errno = -err;
		return NULL;
	}
	segments_expect(&s->segments, 1);
	s->nr_exes = 1; /* TABLE_EXE_ANON */
	s->next_space = 1;
	o->exes[TABLE_EXE_ANON].state = TABLE_NONE;
	return s;
}

void store_free(struct store *s)
{
	struct source *src, *srctmp;
	struct list *l, *ltmp;

	if (!s)
		return;
	HASH_ITER (hh, s->lists, l, ltmp) {
		HASH_DEL(s->lists, l);
		free(l);
	}
	exes_release(s);
	HASH_ITER (hh, s->sources, src, srctmp) {
		if (s->o.shelf)
			shelf_put(s->o.shelf, src);
		free(src->build);
		source_drop(s, src);
	}
	builds_drop(s->unplaced);
	segments_release(&s->segments);
	free(s);
}

void store_go_alone(struct store *s)
{
	s->o.earlier = NULL;
	segments_limit(&s->segments, s->o.max_bytes);
	builds_thaw(s, UINT64_MAX);
}

void store_set_state(struct store *s, const struct exe *x, enum table_state state)
{
	__atomic_store_n(&s->o.exes[x->index].state, state, __ATOMIC_RELEASE);
}

bool store_rule(struct store *s, uint32_t pid, const struct proc_mapping *m, uint64_t pc,
		struct walk_rule *r)
{
	struct exe *x = m->file ? store_exe(s, pid, m) : NULL;
	const struct table *t;

	r->anon = !m->file;
	r->rule = rule_special(RULE_OUR_ARCH, RULE_NONE);
	if (!x || s->o.exes[x->index].state == TABLE_NONE)
		return true;
	if (s->o.exes[x->index].state == TABLE_REFUSED) {
		r->rule = rule_special(RULE_OUR_ARCH, RULE_REFUSED);
		return true;
	}
	if (!x->build) {
		source_hold(x->source, pid, m);
		s->nr_wanted += !x->wanted++;
		s->missing = x->index;
		return false;
	}
	t = &x->build->table;
	r->rule = table_rule(t, pc - m->start + m->file_offset + s->o.exes[x->index].delta);
	r->exception = table_exception(t, r->rule);
	return true;
}

static void exe_ready(struct store *s, struct exe *x, struct build *b, uint64_t delta)
{
	const struct table_exe row = { .state = TABLE_READY,
				       .base = b->word,
				       .nr_pages = b->table.nr_pages,
				       .exceptions = b->table.exceptions,
				       .first_page = b->table.first_page,
				       .delta = delta,
				       .used = *s->o.epoch };

	x->build = b;
	x->refusals = 0;
	publish_exe(&s->o.exes[x->index], &row);
}

uint32_t store_missing(const struct store *s)
{
	return s->missing;
}

bool store_is_missing(const struct store *s, uint32_t table)
{
	const struct exe *x = s->by_index[table];

	return x && x->wanted && !x->build && s->o.exes[table].state == TABLE_ABSENT;
}

/* One warning, which says what to do, for all of them. */
static void tell_no_room(struct store *s, const struct exe *x)
{
	const char *needed = text_bytes(s->no_room_words * sizeof(uint32_t));

	if (!s->stats.nr_no_room++)
		log_warn("%s: no room for its unwind table of %s, so stacks end in its code: "
			 "raise --unwind-mem (now %s)",
			 x->key.file->path, needed,
			 text_bytes((uint64_t)s->segments.max * TABLE_SEGMENT_BYTES));
	else
		log_info("%s: no room for its unwind table of %s", x->key.file->path, needed);
}

/* A table that all the memory would be too small for is not built again. */
static void exe_has_no_room(struct store *s, struct exe *x, uint64_t now)
{
	uint64_t max = (uint64_t)s->segments.max << TABLE_SEGMENT_SHIFT;

	if (s->no_room_words && !x->refusals && !s->o.earlier)
		tell_no_room(s, x);
	builds_refuse(s, x, s->no_room_words > max ? NEVER_NS : now);
	x->refusals += !s->o.earlier; /* there is more room soon */
}

/* False: it has to wait for room that is on its way. */
static bool exe_build(struct store *s, struct exe *x, uint64_t now)
{
	uint64_t delta = 0;
	int err = -ENOENT;

	s->no_room_words = 0;
	source_read(s, x->source);
	if (!s->unplaced && !x->source->build)
		segments_expect(&s->segments, x->source->words);
	if (source_delta(x->source, x->key.offset, &delta))
		err = builds_get(s, x->source, now);
	if (!err) {
		exe_ready(s, x, x->source->build, delta);
	} else if (err == -ENOSPC) {
		exe_has_no_room(s, x, now);
	} else if (err != -EINPROGRESS) {
		log_info("%s: no unwind table (%s): its code is walked by frame pointer",
			 x->key.file->path, strerror(-err));
		s->stats.nr_failed++;
		store_set_state(s, x, TABLE_NONE);
	}
	return err != -EINPROGRESS;
}

int store_build(struct store *s, uint64_t now)
{
	struct exe *most = NULL;
	uint64_t begin = now_ns();

	if (!s->nr_wanted)
		return -ENOENT;
	for (uint32_t i = 1; i < s->nr_exes; i++)
		if (s->by_index[i] && s->by_index[i]->wanted > (most ? most->wanted : 0))
			most = s->by_index[i];
	if (!exe_build(s, most, now))
		return -EINPROGRESS;
	most->wanted = 0;
	s->nr_wanted--;
	s->stats.build_ns += now_ns() - begin;
	return 0;
}

void store_want(struct store *s, const struct process *p)
{
	const struct proc_mapping *m;
	struct walk_rule rule;
	struct exe *x;

	for (size_t i = 0; i < p->image->nr_maps; i++) {
		m = &p->image->maps[i];
		x = m->file ? store_exe(s, p->pid, m) : NULL;
		if (x && s->o.exes[x->index].wanted) {
			s->o.exes[x->index].wanted = 0;
			store_rule(s, p->pid, m, m->start, &rule);
		}
	}
}

struct candidate {
	struct exe *exe;
	uint64_t words;
};

static int candidate_compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->words < y->words ? -1 : x->words > y->words;
}

/*
 * What a process has mapped and has no table yet, with how large that will be, as far as there is
 * time to find out. It may map more while headers are read.
 */
static size_t candidates(struct store *s, const struct process *p, struct candidate *c, size_t max,
			 uint64_t until_ns)
{
	const struct proc_mapping *m;
	struct exe *x;
	size_t nr = 0;

	for (size_t i = 0; i < max && i < p->image->nr_maps && now_ns() < until_ns; i++) {
		m = &p->image->maps[i];
		x = m->file ? store_exe(s, p->pid, m) : NULL;
		if (!x || x->build)
			continue;
		source_hold(x->source, p->pid, m);
		if (source_read(s, x->source))
			c[nr++] = (struct candidate){ x, x->source->words };
	}
	qsort(c, nr, sizeof(*c), candidate_compare);
	return nr;
}

/* The first segment may still be on its way. Returns how long that took. */
static uint64_t wait_for_memory(struct store *s)
{
	uint64_t begin = now_ns();

	while (!s->segments.nr && now_ns() < begin + MEMORY_NS) {
		usleep(1000);
		segments_expect(&s->segments, 1);
	}
	return now_ns() - begin;
}

void store_warm(struct store *s, struct process *p, uint64_t max_words, uint64_t until_ns)
{
	size_t max = p->image->nr_maps, nr, i = 0;
	struct candidate *c = xcalloc(max, sizeof(*c));
	uint64_t start_stack, words = 0;

	nr = candidates(s, p, c, max, until_ns);
	for (size_t k = 0; k < nr; k++)
		words += c[k].words;
	segments_expect(&s->segments, words);
	until_ns += wait_for_memory(s);
	while (i < nr && c[i].words <= max_words && now_ns() < until_ns) {
		if (c[i].exe->build || s->o.exes[c[i].exe->index].state != TABLE_ABSENT ||
		    exe_build(s, c[i].exe, now_ns()))
			i++;
		else
			usleep(1000);
	}
	free(c);
	if (!maps_read_start_stack(p->pid, &start_stack))
		store_publish(s, p, start_stack, false);
}

void store_turn(struct store *s, struct proc_table *procs, uint64_t now)
{
	uint32_t free_segments = s->segments.max - s->segments.nr;

	lists_refresh(s, procs, now);
	if (s->sweep)
		exes_sweep(s, now);
	s->sweep = false;
	segments_settle(&s->segments, now);
	builds_thaw(s, now);
	if (++s->turn % AGE_EVERY || free_segments * SHORT_PART >= s->segments.max)
		return;
	s->epochs[1] = s->epochs[0];
	s->epochs[0] = __atomic_add_fetch(s->o.epoch, 1, __ATOMIC_SEQ_CST);
}

struct store_stats store_stats(const struct store *s)
{
	struct store_stats stats = s->stats;

	stats.nr_processes = HASH_COUNT(s->lists);
	stats.segment_bytes = (uint64_t)s->segments.nr * TABLE_SEGMENT_BYTES;
	return stats;
}
