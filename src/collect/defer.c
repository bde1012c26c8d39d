/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of walks to be made. */
#include "collect/defer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "reader/peek.h"
#include "unwind/rule.h"

#define PAGE_BYTES  4096u
#define FIRST_BYTES (8u << 10) /* of the stack of a paused thread; most need no more */
#define FEW_ITEMS   64
#define MOST_BYTES  (1u << 20)
#define NR_REGS	    (sizeof(((struct prof_deferred *)0)->regs) / 8)

static const struct prof_deferred *slot_get(const struct defer *d, uint64_t index)
{
	return &d->slots[index & (d->nr_slots - 1)];
}

static void slot_free(const struct defer *d, uint64_t index)
{
	index &= d->nr_slots - 1;
	__atomic_fetch_and(&d->taken[index / 64], ~(1ull << index % 64), __ATOMIC_RELEASE);
}

static uint32_t slot_bytes(const struct prof_deferred *slot)
{
	return slot->bytes < sizeof(slot->words) ? slot->bytes : sizeof(slot->words);
}

/* Registers, then the stack in one piece. */
static uint64_t *copy(const struct defer *d, const struct arena_stack *s, size_t *stack_bytes)
{
	uint64_t *memory;
	size_t bytes = 0;

	for (uint32_t i = 0; i < s->nr_frames; i++)
		bytes += slot_bytes(slot_get(d, s->frames[i]));
	memory = xmalloc(NR_REGS * sizeof(*memory) + bytes);
	memcpy(memory, slot_get(d, s->frames[0])->regs, NR_REGS * sizeof(*memory));
	*stack_bytes = 0;
	for (uint32_t i = 0; i < s->nr_frames; i++) {
		const struct prof_deferred *slot = slot_get(d, s->frames[i]);

		memcpy((uint8_t *)(memory + NR_REGS) + *stack_bytes, slot->words, slot_bytes(slot));
		*stack_bytes += slot_bytes(slot);
	}
	return memory;
}

static struct defer_item *new_item(struct defer *d)
{
	d->items = xgrow(d->items, d->nr, &d->cap, sizeof(*d->items));
	return &d->items[d->nr++];
}

static void take_slots(struct defer *d, const struct arena_stack *s, uint32_t ref, uint64_t pc_mask)
{
	const struct prof_deferred *from = slot_get(d, s->frames[0]);
	struct defer_item *item = new_item(d);

	*item = (struct defer_item){ .ref = ref,
				     .pid = s->pid,
				     .time_ns = s->time_ns,
				     .start_stack = from->start_stack,
				     .pause = from->pause,
				     .cut = from->cut };
	item->start = (struct walk_start){ .arch = RULE_OUR_ARCH,
					   .pc = from->pc,
					   .sp = from->sp,
					   .fp = from->fp,
					   .lr = from->lr,
					   .called = from->called,
					   .trampoline = from->trampoline,
					   .pc_mask = pc_mask };
	for (size_t i = 0; i < PROF_DEFERRED_RETURNS; i++)
		item->start.returns[i] =
			(struct walk_return){ from->returns[i].sp, from->returns[i].pc };
	item->memory = copy(d, s, &item->start.stack_bytes);
	if (s->nr_python) {
		item->python = xmalloc(s->nr_python * sizeof(*item->python));
		memcpy(item->python, s->python, s->nr_python * sizeof(*item->python));
		item->nr_python = s->nr_python;
	}
	item->copied = item->start.stack_bytes;
	d->bytes += item->copied;
	item->start.regs = item->memory;
	item->start.stack = (uint8_t *)(item->memory + NR_REGS);
	for (uint32_t i = 0; i < s->nr_frames; i++)
		slot_free(d, s->frames[i]);
}

void defer_take(struct defer *d, const struct arena_stack *s, uint32_t ref, uint64_t pc_mask)
{
	if (s->kind == PROF_STACK_DEFERRED) {
		take_slots(d, s, ref, pc_mask);
		return;
	}
	d->sleepers = xgrow(d->sleepers, d->nr_sleepers, &d->cap_sleepers, sizeof(*d->sleepers));
	d->sleepers[d->nr_sleepers++] =
		(struct defer_sleeper){ ref, s->pid, s->frames[0], s->time_ns };
}

bool defer_next_sleeper(struct defer *d, uint64_t pc_mask)
{
	const struct defer_sleeper *s = &d->sleepers[d->first_sleeper];
	const struct prof_sleeper *row;
	struct defer_item *item;

	if (d->first_sleeper == d->nr_sleepers)
		return false;
	d->first_sleeper++;
	row = &d->rows[s->row < d->nr_rows ? s->row : 0];
	item = new_item(d);
	*item = (struct defer_item){ .ref = s->ref,
				     .pid = s->pid,
				     .time_ns = s->time_ns,
				     .start_stack = row->start_stack,
				     .pause = row->pause,
				     .thread = row->thread,
				     .cut = UNWIND_END_MOVED };
	item->start = (struct walk_start){ .arch = RULE_OUR_ARCH,
					   .pc = row->pc,
					   .sp = row->sp,
					   .fp = row->fp,
					   .lr = row->lr,
					   .pc_mask = pc_mask };
	return true;
}

/* A file of a thread, as text. False: the thread is gone. */
static bool read_text(uint32_t pid, uint32_t tid, const char *name, char *text, size_t sz)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, sz - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

/* Where the kernel does not count runs: it does not run, and has not left a CPU since. */
static bool is_where_it_was(uint32_t pid, const struct prof_pause *p)
{
	char text[4096], *line;
	uint64_t sum = 0, nr;

	if (!read_text(pid, p->tid, "status", text, sizeof(text)) || strstr(text, "\nState:\tR"))
		return false;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%*[a-z]_ctxt_switches: %" SCNu64, &nr) == 1)
			sum += nr;
	}
	return sum == p->times;
}

static bool is_paused(uint32_t pid, const struct prof_pause *p)
{
	char text[128];
	uint64_t runs = 0;

	if (p->by_switches)
		return is_where_it_was(pid, p);
	return read_text(pid, p->tid, "schedstat", text, sizeof(text)) &&
	       sscanf(text, "%*u %*u %" SCNu64, &runs) == 1 && runs == p->times;
}

bool defer_is_paused(const struct defer_item *item)
{
	return item->pause.tid && is_paused(item->pid, &item->pause);
}

/* Room for a stack of that size, with what is there already. */
static void grow(struct defer_item *item, size_t bytes)
{
	item->memory = xreallocarray(item->memory, NR_REGS + bytes / 8 + 1, sizeof(*item->memory));
	if (item->start.regs)
		item->start.regs = item->memory;
	item->start.stack = (uint8_t *)(item->memory + NR_REGS);
}

bool defer_want(struct defer_item *item, uint64_t address)
{
	size_t have = item->start.stack_bytes, want = have ? 4 * have : FIRST_BYTES;
	uint64_t reach = address - item->start.sp;

	if (!item->pause.tid || item->no_more)
		return false;
	if (reach >= MOST_BYTES) {
		item->cut = UNWIND_END_NO_ROOM;
		return false;
	}
	while (want < reach + PAGE_BYTES)
		want *= 2;
	if (want > MOST_BYTES)
		want = MOST_BYTES;
	if (want <= have)
		return false;
	item->asks = DEFER_STACK;
	item->asks_for = address;
	item->asks_at = item->start.sp + have;
	item->asks_sz = want - have;
	return true;
}

bool defer_want_other(struct defer_item *item, uint64_t address)
{
	if (!item->pause.tid || item->no_others || item->start.nr_others == WALK_OTHER_STACKS)
		return false;
	item->asks = DEFER_OTHER;
	item->asks_for = address;
	item->asks_at = (address - 2 * sizeof(uint64_t)) & -(uint64_t)sizeof(uint64_t);
	item->asks_sz = FIRST_BYTES;
	return true;
}

static void take_stack(struct defer_item *item, const void *bytes, size_t sz)
{
	size_t have = item->start.stack_bytes;

	grow(item, have + sz);
	memcpy((uint8_t *)item->start.stack + have, bytes, sz);
	item->cut = UNWIND_END_READ;
	item->start.stack_bytes = have + sz;
	item->no_more = item->asks_for - item->start.sp >= have + sz;
}

static void take_other(struct defer_item *item, const void *bytes, size_t sz)
{
	struct walk_start *s = &item->start;
	size_t i = s->nr_others;

	if (!item->others)
		item->others = xmalloc(WALK_OTHER_STACKS * FIRST_BYTES);
	memcpy(item->others + i * FIRST_BYTES, bytes, sz);
	s->others[i].at = item->asks_at;
	s->others[i].bytes = item->others + i * FIRST_BYTES;
	s->others[i].sz = sz;
	s->nr_others++;
	item->no_others = item->asks_for - item->asks_at >= sz;
}

struct answers {
	struct defer *d;
	const uint32_t *asked; /* items */
};

static void take_answer(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	const struct answers *a = arg;
	struct defer_item *item = &a->d->items[a->asked[i]];
	bool on_stack = item->asks == DEFER_STACK;
	size_t got = sz > 0 ? sz : 0;

	item->asks = DEFER_NOTHING;
	if (sz == -ETIMEDOUT) {
		item->cut = UNWIND_END_SILENT;
		item->pause.tid = 0;
	} else if (!is_paused(item->pid, &item->pause)) {
		item->cut = UNWIND_END_MOVED;
		item->pause.tid = 0;
	} else if (on_stack && got <= item->asks_sz) {
		take_stack(item, bytes, got);
	} else if (got <= FIRST_BYTES) {
		take_other(item, bytes, got);
	}
}

bool defer_read(struct defer *d)
{
	uint32_t *asked = xcalloc(d->nr + 1, sizeof(*asked));
	struct peek *rows = xcalloc(d->nr + 1, sizeof(*rows));
	struct answers a = { d, asked };
	size_t nr = 0;

	for (size_t i = 0; i < d->nr; i++) {
		const struct defer_item *item = &d->items[i];

		if (item->asks == DEFER_NOTHING)
			continue;
		rows[nr] = (struct peek){ item->pid, item->asks_sz, item->asks_at };
		asked[nr++] = i;
	}
	if (nr)
		reader_ask_each(d->reader, READER_MEMORY, rows, nr, take_answer, &a);
	free(rows);
	free(asked);
	return nr;
}

size_t defer_left(const struct defer *d)
{
	return d->nr + d->nr_sleepers - d->first_sleeper;
}

size_t defer_bytes(const struct defer *d)
{
	return d->bytes + d->nr * sizeof(*d->items);
}

size_t defer_nr_taken(const struct defer *d)
{
	size_t nr = 0;

	for (size_t i = 0; i < d->nr_slots / 64; i++)
		nr += __builtin_popcountll(d->taken[i]);
	return nr;
}

void defer_done(struct defer *d, size_t i)
{
	d->bytes -= d->items[i].copied;
	free(d->items[i].memory);
	free(d->items[i].others);
	free(d->items[i].python);
	d->items[i] = d->items[--d->nr];
	if (d->nr || d->cap <= FEW_ITEMS)
		return;
	free(d->items); /* there were many while a table was built */
	d->items = NULL;
	d->cap = 0;
}

void defer_release(struct defer *d)
{
	while (d->nr)
		defer_done(d, 0);
	free(d->items);
	free(d->sleepers);
}
