/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What processes have mapped where, as lists that the kernel reads. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bpf/python.h"
#include "proc/maps.h"
#include "unwind/publish.h"
#include "unwind/store_parts.h"

#define PYTHON_WAIT_NS 1000000000ull /* so long without finding one, and it has not begun */
#define HANDS_NS       1000000000ull /* deferred for that long after addresses changed hands */

static void list_drop(struct store *s, struct list *l, uint64_t now)
{
	publish_proc_gone(s->o.procs, l->pid);
	segments_give(&s->segments, l->word, l->nr_words, now);
	HASH_DEL(s->lists, l);
	free(l);
}

static uint32_t image_write(struct store *s, const struct process *p, uint32_t word, uint32_t nr)
{
	const struct proc_image *image = p->image;
	struct table_mapping *to = (void *)(s->segments.words + word);

	for (uint32_t i = 0; i < nr; i++) {
		const struct proc_mapping *m = &image->maps[i];
		struct exe *x = m->file ? store_exe(s, p->pid, m) : NULL;

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

/* An interpreter that has begun is found soon. */
static uint16_t python_row(const struct proc_image *image)
{
	if (image->python || image->python_wait_ns > PYTHON_WAIT_NS)
		return image->python_row;
	for (size_t i = 0; i < image->nr_maps; i++)
		if (image->maps[i].file && image->maps[i].file->has_python)
			return PYTHON_UNKNOWN;
	return 0;
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
				  .defer = changes_hands(p, now),
				  .python = python_row(image) };
	int err;

	err = segments_take(&s->segments, nr_words, &word);
	if (err == -ENOSPC)
		builds_evict_for(s, nr_words, true, now); /* without it there is no walk at all */
	if (err)
		return err;
	row.list = word;
	row.nr_mappings = image_write(s, p, word, nr);
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
	if (proc_has_ended(p) || maps_read_start_stack(p->pid, &stack_now) ||
	    stack_now != start_stack)
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

void store_refresh(struct store *s, struct process *p)
{
	uint64_t now = now_ns();
	struct list *l;

	HASH_FIND(hh, s->lists, &p->pid, sizeof(p->pid), l);
	if (l && list_write(s, l, p, now))
		list_drop(s, l, now);
}

void lists_mark(const struct store *s, bool used[TABLE_MAX_EXES])
{
	const struct table_mapping *m;
	const struct list *l;

	for (l = s->lists; l; l = l->hh.next) {
		m = (const void *)(s->segments.words + l->word);
		for (uint32_t i = 0; i < l->nr_words / TABLE_MAPPING_WORDS; i++)
			used[m[i].exe] = true;
	}
}

void lists_refresh(struct store *s, struct proc_table *procs, uint64_t now)
{
	struct list *l, *tmp;

	HASH_ITER (hh, s->lists, l, tmp)
		refresh_list(s, l, procs, now);
}
