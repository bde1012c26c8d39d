/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Executables, their tables, and lists of mappings, written where the kernel reads them. */
#include "unwind/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uthash.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "proc/maps.h"
#include "unwind/publish.h"
#include "unwind/room.h"
#include "unwind/table.h"

#define COOL_NS		  5000000000ull /* a table that was taken away is not built again before */
#define MEMORY_NS	  100000000ull
#define NEVER_NS	  (1ull << 63)
#define HANDS_NS	  1000000000ull /* deferred for that long after addresses changed hands */
#define AGE_EVERY	  20	 /* turns: then what is in use is asked anew, if room is short */
#define MAX_PAGE	  65536u /* of any kernel we run on */
#define ROWS_PER_FUNCTION 9	 /* x86-64; on aarch64 2 to 3 */
#define MAX_ESTIMATE	  (16u << TABLE_SEGMENT_SHIFT)
#define MAX_REFUSALS	  4 /* that make the next one last longer */
#define SHORT_PART	  4 /* room is short when less than this part is left */

/* A table, shared by all files with the same build-id. */
struct build {
	uint8_t id[20];
	bool has_id;
	uint32_t word;
	struct table table; /* its words are those that the kernel reads */
	uint32_t nr_exes;
	UT_hash_handle hh;
};

struct exe_key {
	const struct proc_file *file;
	uint64_t offset; /* of the mapping, all of which was linked at one distance */
};

struct exe {
	struct exe_key key;
	uint32_t index; /* of the kernel's row */
	uint32_t wanted;
	struct build *build;
	uint64_t not_before_ns; /* evicted */
	uint32_t refusals;	/* for want of room */
	UT_hash_handle hh;
};

struct list {
	uint32_t pid;
	uint32_t word, nr_words;
	uint64_t start_stack;
	uint32_t changes; /* of the process, when it was written */
	bool deferred;
	bool checked;
	UT_hash_handle hh;
};

struct store {
	struct store_opts o;
	struct segments segments;
	struct build *builds; /* by id; those without one are in no table */
	struct exe *exes;     /* by key */
	struct exe *by_index[TABLE_MAX_EXES];
	uint32_t nr_exes, nr_wanted;
	uint32_t missing; /* the index of the one that was wanted last */
	/* Built, and waiting for room that is on its way. */
	struct build *unplaced;
	struct list *lists; /* by pid */
	uint32_t next_space;
	uint64_t next_thaw_ns; /* 0 = nothing is refused */
	unsigned int turn;
	uint32_t no_room_words; /* of the table that was tried last, 0 = there is or will be */
	uint32_t epochs[2];	/* when ages were last asked for: this time, the time before */
	struct store_stats stats;
};

struct store *store_new(const struct store_opts *o)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int err;

	s->o = *o;
	err = segments_init(&s->segments, o->ops->segment_make, o->ops->segment_drop, o->arg,
			    o->max_bytes);
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

/* One that was never placed: from then on its words are the kernel's. */
static void build_free(struct build *b)
{
	if (b)
		table_release(&b->table);
	free(b);
}

void store_free(struct store *s)
{
	struct exe *x, *xtmp;
	struct list *l, *ltmp;

	if (!s)
		return;
	HASH_ITER (hh, s->lists, l, ltmp) {
		HASH_DEL(s->lists, l);
		free(l);
	}
	HASH_ITER (hh, s->exes, x, xtmp) {
		HASH_DEL(s->exes, x);
		if (x->build && !--x->build->nr_exes) {
			if (x->build->hh.tbl)
				HASH_DEL(s->builds, x->build);
			free(x->build);
		}
		free(x);
	}
	build_free(s->unplaced);
	segments_release(&s->segments);
	free(s);
}

static void set_state(struct store *s, const struct exe *x, enum table_state state)
{
	__atomic_store_n(&s->o.exes[x->index].state, state, __ATOMIC_RELEASE);
}

/* NULL when the kernel's rows are used up: such code is walked by frame pointer. */
static struct exe *exe_get(struct store *s, const struct proc_mapping *m)
{
	struct exe_key key = { m->file, m->file_offset };
	struct exe *x;

	HASH_FIND(hh, s->exes, &key, sizeof(key), x);
	if (x || s->nr_exes == TABLE_MAX_EXES)
		return x;
	x = xcalloc(1, sizeof(*x));
	x->key = key;
	x->index = s->nr_exes++;
	s->by_index[x->index] = x;
	HASH_ADD(hh, s->exes, key, sizeof(x->key), x);
	return x;
}

bool store_rule(struct store *s, uint32_t pid, const struct proc_mapping *m, uint64_t pc,
		struct walk_rule *r)
{
	struct exe *x = m->file ? exe_get(s, m) : NULL;
	uint32_t none = RULE_NONE;
	const struct table *t;

	r->anon = !m->file;
#if defined(__x86_64__)
	none |= RULE_X86_SPECIAL;
#else
	none |= RULE_ARM64_SPECIAL;
#endif
	r->rule = none;
	if (!x || s->o.exes[x->index].state == TABLE_NONE)
		return true;
	if (s->o.exes[x->index].state == TABLE_REFUSED) {
		r->rule = none - RULE_NONE + RULE_REFUSED;
		return true;
	}
	if (!x->build) {
		if (m->file->path[0] != '[')
			proc_file_open(m->file, pid, m);
		s->nr_wanted += !x->wanted++;
		s->missing = x->index;
		return false;
	}
	t = &x->build->table;
	r->rule = table_rule(t, pc - m->start + m->file_offset + s->o.exes[x->index].delta);
	r->exception = table_exception(t, r->rule);
	return true;
}

/*
 * For a while, longer each time, walks end there, rather than being deferred for a table that has
 * no room.
 */
static void refuse(struct store *s, struct exe *x, uint64_t now)
{
	set_state(s, x, TABLE_REFUSED);
	x->not_before_ns =
		now + (COOL_NS << (x->refusals < MAX_REFUSALS ? x->refusals : MAX_REFUSALS));
	/* Later ones do not put off those before. */
	if (!s->next_thaw_ns || x->not_before_ns < s->next_thaw_ns)
		s->next_thaw_ns = x->not_before_ns;
}

static void thaw(struct store *s, uint64_t now)
{
	if (!s->next_thaw_ns || now < s->next_thaw_ns)
		return;
	s->next_thaw_ns = 0;
	for (uint32_t i = 1; i < s->nr_exes; i++) {
		struct exe *x = s->by_index[i];

		if (s->o.exes[i].state != TABLE_REFUSED)
			continue;
		if (x->not_before_ns <= now)
			set_state(s, x, TABLE_ABSENT);
		else if (!s->next_thaw_ns || x->not_before_ns < s->next_thaw_ns)
			s->next_thaw_ns = x->not_before_ns;
	}
}

/* Gives up the table of all executables that have it. The kernel looks it up anew from now on. */
static void evict(struct store *s, struct build *b, uint64_t now)
{
	for (uint32_t i = 1; i < s->nr_exes; i++) {
		if (s->by_index[i]->build != b)
			continue;
		s->by_index[i]->build = NULL;
		refuse(s, s->by_index[i], now);
	}
	__atomic_fetch_add(s->o.epoch, 1, __ATOMIC_SEQ_CST);
	segments_give(&s->segments, b->word, b->table.nr_words, now);
	s->stats.nr_tables--;
	s->stats.nr_evicted++;
	s->stats.nr_rows -= b->table.nr_rows;
	s->stats.table_bytes -= b->table.nr_words * sizeof(uint32_t);
	if (b->hh.tbl)
		HASH_DEL(s->builds, b);
	free(b);
}

/*
 * 0: it was used in the last seconds. The epoch is a counter that may wrap: differences are what
 * counts.
 */
static uint32_t age_of(const struct store *s, const struct exe *x)
{
	uint32_t used = s->o.exes[x->index].used;

	return (int32_t)(used - s->epochs[1]) < 0 ? s->epochs[1] - used : 0;
}

/*
 * Tables and lists as they lie in memory; tables first, with theirs in builds. Those in use may go
 * as well with any. To free().
 */
static struct room_range *occupied(const struct store *s, bool any, struct build **builds,
				   size_t *nr)
{
	struct room_range *v = xcalloc(s->nr_exes + HASH_COUNT(s->lists), sizeof(*v));
	struct list *l, *tmp;
	size_t n = 0, i;

	for (uint32_t k = 1; k < s->nr_exes; k++) {
		struct build *b = s->by_index[k]->build;
		uint32_t age = b ? age_of(s, s->by_index[k]) + any : 0;

		for (i = 0; i < n && builds[i] != b; i++)
			;
		if (!b || (i < n && v[i].age <= age))
			continue;
		v[i] = (struct room_range){ .word = b->word, .nr = b->table.nr_words, .age = age };
		builds[i] = b;
		n += i == n;
	}
	*nr = n;
	HASH_ITER (hh, s->lists, l, tmp)
		if (l->nr_words)
			v[(*nr)++] = (struct room_range){ .word = l->word, .nr = l->nr_words };
	return v;
}

/* Evicts what keeps nr_words from having room. False: nothing that may go would make any. */
static bool evict_for(struct store *s, uint32_t nr_words, bool any, uint64_t now)
{
	struct build **builds = xcalloc(s->nr_exes, sizeof(*builds));
	size_t nr;
	struct room_range *v = occupied(s, any, builds, &nr);
	bool found = room_find(&s->segments, v, nr, nr_words);

	for (size_t i = 0; i < nr && found; i++)
		if (v[i].goes)
			evict(s, builds[i], now);
	free(builds);
	free(v);
	return found;
}

/* Room for a table. What is evicted can be used a little later only, so this may have to wait. */
static int make_room(struct store *s, uint32_t nr_words, uint32_t *word, uint64_t now)
{
	int err = segments_take(&s->segments, nr_words, word);

	if (err == -ENOSPC && !evict_for(s, nr_words, false, now))
		s->no_room_words = nr_words;
	return err;
}

/* Moves a finished table to where the kernel reads it. */
static int build_place(struct store *s, struct build *b, uint64_t now)
{
	uint32_t *words = b->table.words;
	int err = make_room(s, b->table.nr_words, &b->word, now);

	if (err)
		return err;
	b->table.words = s->segments.words + b->word;
	memcpy(b->table.words, words, b->table.nr_words * sizeof(*words));
	free(words);
	s->stats.nr_tables++;
	s->stats.nr_rows += b->table.nr_rows;
	s->stats.table_bytes += b->table.nr_words * sizeof(uint32_t);
	if (b->has_id)
		HASH_ADD(hh, s->builds, id, sizeof(b->id), b);
	return 0;
}

static struct build *build_new(const struct elf_file *f)
{
	struct build *b = xcalloc(1, sizeof(*b));

	b->has_id = f->build_id_len == sizeof(b->id);
	memcpy(b->id, f->build_id, sizeof(b->id));
	return b;
}

/* The table of a file: one that is there, or a new one. 0 or negative errno, as build_place(). */
static int build_get(struct store *s, const struct elf_file *f, bool vdso, struct build **out,
		     uint64_t now)
{
	struct build *b = NULL;
	int err;

	if (f->build_id_len == sizeof(b->id))
		HASH_FIND(hh, s->builds, f->build_id, sizeof(b->id), b);
	*out = b;
	if (b)
		return 0;
	b = s->unplaced;
	s->unplaced = NULL;
	if (!b || memcmp(b->id, f->build_id, sizeof(b->id))) {
		build_free(b);
		b = build_new(f);
		err = vdso ? table_build_vdso(&b->table, f, s->o.pause)
			   : table_build(&b->table, f, s->o.pause);
		if (err) {
			build_free(b);
			return err;
		}
	}
	err = build_place(s, b, now);
	if (!err)
		*out = b;
	else if (err == -EINPROGRESS && b->has_id)
		s->unplaced = b;
	else
		build_free(b);
	return err;
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
	b->nr_exes++;
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

/* All 64-bit processes have the same vDSO, so ours serves. */
static void vdso_line(void *arg, const struct maps_line *line)
{
	struct elf_file **f = arg;

	if (!*f && !strcmp(line->path, "[vdso]"))
		*f = elf_file_open_image((void *)line->start, line->end - line->start);
}

static struct elf_file *exe_open(const struct exe *x)
{
	struct elf_file *f = NULL;

	if (x->key.file->path[0] != '[')
		return x->key.file->fd < 0 ? NULL : elf_file_open(x->key.file->fd);
	maps_read(getpid(), vdso_line, &f);
	return f;
}

/*
 * Link address minus file offset, in the segment that a mapping from an offset on holds. Mappings
 * begin at the page that the segment begins in.
 */
static bool find_delta(const struct elf_file *f, uint64_t offset, uint64_t *delta)
{
	const Elf64_Phdr *best = NULL;

	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !p->p_filesz ||
		    offset >= p->p_offset + p->p_filesz || offset + MAX_PAGE <= p->p_offset)
			continue;
		if (!best || p->p_offset < best->p_offset)
			best = p;
	}
	if (best)
		*delta = best->p_vaddr - best->p_offset;
	return best != NULL;
}

/*
 * Words that the table of a file will take, about, told from its search table (8 bytes a function)
 * and the size of its code.
 */
static uint64_t estimate(const struct elf_file *f)
{
	uint64_t words = 0;

	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type == PT_GNU_EH_FRAME)
			words += p->p_filesz / 8 * ROWS_PER_FUNCTION;
		else if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			words += (p->p_filesz >> TABLE_PAGE_SHIFT(TABLE_X86)) * TABLE_PAGE_WORDS;
	}
	return words < MAX_ESTIMATE ? words : MAX_ESTIMATE;
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

	if (s->no_room_words && !x->refusals)
		tell_no_room(s, x);
	refuse(s, x, s->no_room_words > max ? NEVER_NS : now);
	x->refusals++;
}

/* False: it has to wait for room that is on its way. */
static bool exe_build(struct store *s, struct exe *x, uint64_t now)
{
	struct elf_file *f = exe_open(x);
	struct build *b = NULL;
	uint64_t delta = 0;
	int err = -ENOENT;

	s->no_room_words = 0;
	if (f && !s->unplaced)
		segments_expect(&s->segments, estimate(f));
	if (f && find_delta(f, x->key.offset, &delta))
		err = build_get(s, f, x->key.file->path[0] == '[', &b, now);
	elf_file_close(f);
	if (!err) {
		exe_ready(s, x, b, delta);
	} else if (err == -ENOSPC) {
		exe_has_no_room(s, x, now);
	} else if (err != -EINPROGRESS) {
		log_info("%s: no unwind table (%s): its code is walked by frame pointer",
			 x->key.file->path, strerror(-err));
		s->stats.nr_failed++;
		set_state(s, x, TABLE_NONE);
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
		if (s->by_index[i]->wanted > (most ? most->wanted : 0))
			most = s->by_index[i];
	if (!exe_build(s, most, now))
		return -EINPROGRESS;
	most->wanted = 0;
	s->nr_wanted--;
	s->stats.build_ns += now_ns() - begin;
	return 0;
}

static void list_drop(struct store *s, struct list *l, uint64_t now)
{
	publish_proc_gone(s->o.procs, l->pid);
	segments_give(&s->segments, l->word, l->nr_words, now);
	HASH_DEL(s->lists, l);
	free(l);
}

static uint32_t image_write(struct store *s, const struct proc_image *image, uint32_t word,
			    uint32_t nr)
{
	struct table_mapping *to = (void *)(s->segments.words + word);

	for (uint32_t i = 0; i < nr; i++) {
		const struct proc_mapping *m = &image->maps[i];
		struct exe *x = m->file ? exe_get(s, m) : NULL;

		to[i] = (struct table_mapping){ .start = m->start,
						.end = m->end,
						.bias = m->start - m->file_offset,
						.exe = x ? x->index : TABLE_EXE_ANON };
	}
	return nr;
}

/*
 * Between a library that took the place of another and our hearing of it, walks go by the wrong
 * table (the collector finds out and cuts such stacks). Where that happens, it is likely to happen
 * again.
 */
static bool changes_hands(const struct process *p, uint64_t now)
{
	return p->reused_ns && now < p->reused_ns + HANDS_NS;
}

/* Writes a new list; the old one is read until the kernel has been told. */
static int list_write(struct store *s, struct list *l, struct process *p, uint64_t now)
{
	const struct proc_image *image = p->image;
	uint32_t nr = image->nr_maps < TABLE_MAX_MAPPINGS ? image->nr_maps : TABLE_MAX_MAPPINGS;
	uint32_t nr_words = (nr ? nr : 1) * TABLE_MAPPING_WORDS, word;
	struct table_proc row = { .pid = p->pid,
				  .start_stack = l->start_stack,
				  .space = s->next_space++,
				  .final = l->checked,
				  .defer = changes_hands(p, now) };
	int err;

	err = segments_take(&s->segments, nr_words, &word);
	if (err == -ENOSPC)
		evict_for(s, nr_words, true, now); /* without it there is no walk at all */
	if (err)
		return err;
	row.list = word;
	row.nr_mappings = image_write(s, image, word, nr);
	err = publish_proc(s->o.procs, &row);
	if (err) {
		segments_give(&s->segments, word, nr_words, now);
		return err;
	}
	if (l->nr_words)
		segments_give(&s->segments, l->word, l->nr_words, now);
	l->word = word;
	l->nr_words = nr_words;
	l->changes = p->changes;
	l->deferred = row.defer;
	p->listed_ns = now;
	return 0;
}

void store_publish(struct store *s, struct process *p, uint64_t start_stack, bool checked)
{
	uint64_t stack_now;
	struct list *l;

	HASH_FIND(hh, s->lists, &p->pid, sizeof(p->pid), l);
	if (l && l->changes == p->changes && l->start_stack == start_stack && l->checked >= checked)
		return;
	if (maps_read_start_stack(p->pid, &stack_now) || stack_now != start_stack)
		return; /* gone, or another program by now */
	if (!l) {
		l = xcalloc(1, sizeof(*l));
		l->pid = p->pid;
		HASH_ADD(hh, s->lists, pid, sizeof(l->pid), l);
	}
	l->start_stack = start_stack;
	l->checked = checked;
	if (list_write(s, l, p, now_ns()))
		list_drop(s, l, now_ns());
}

void store_want(struct store *s, const struct process *p)
{
	const struct proc_mapping *m;
	struct walk_rule rule;
	struct exe *x;

	for (size_t i = 0; i < p->image->nr_maps; i++) {
		m = &p->image->maps[i];
		x = m->file ? exe_get(s, m) : NULL;
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

/* What a process has mapped and has no table yet, with how large that will be. */
static size_t candidates(struct store *s, const struct process *p, struct candidate *c)
{
	const struct proc_mapping *m;
	struct elf_file *f;
	struct exe *x;
	size_t nr = 0;

	for (size_t i = 0; i < p->image->nr_maps; i++) {
		m = &p->image->maps[i];
		x = m->file ? exe_get(s, m) : NULL;
		if (!x || x->build)
			continue;
		if (m->file->path[0] != '[')
			proc_file_open(m->file, p->pid, m);
		f = exe_open(x);
		if (f)
			c[nr++] = (struct candidate){ x, estimate(f) };
		elf_file_close(f);
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
	struct candidate *c = xcalloc(p->image->nr_maps, sizeof(*c));
	size_t nr = candidates(s, p, c), i = 0;
	uint64_t start_stack, words = 0;

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

static void refresh_list(struct store *s, struct list *l, struct proc_table *procs, uint64_t now)
{
	struct process *p = proc_find(procs, l->pid);

	if (!p || (p->exit_ns && !maps_is_alive(l->pid))) {
		list_drop(s, l, now);
		return;
	}
	if (p->changes == l->changes && l->deferred == changes_hands(p, now))
		return;
	/* After an exec the next walk finds that the stack began elsewhere, and brings it here. */
	l->checked = false;
	if (list_write(s, l, p, now))
		list_drop(s, l, now);
}

void store_turn(struct store *s, struct proc_table *procs, uint64_t now)
{
	struct list *l, *tmp;
	uint32_t free_segments = s->segments.max - s->segments.nr;

	HASH_ITER (hh, s->lists, l, tmp)
		refresh_list(s, l, procs, now);
	segments_settle(&s->segments, now);
	thaw(s, now);
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
