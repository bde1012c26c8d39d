/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of walks to be made. */
#include "collect/defer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"
#include "unwind/rule.h"

#define PAGE_BYTES  4096u
#define FIRST_BYTES (8u << 10) /* of the stack of a paused thread; most need no more */
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

/* As many bytes from an address up as can be read, page by page: up to where the stack ends. */
static size_t read_memory(uint32_t pid, uint64_t at, uint8_t *memory, size_t bytes)
{
	struct iovec to = { memory, bytes }, from[MOST_BYTES / PAGE_BYTES + 1];
	size_t nr = 0, part;
	ssize_t got;

	for (size_t left = bytes; left; left -= part) {
		part = PAGE_BYTES - (at & (PAGE_BYTES - 1));
		if (part > left)
			part = left;
		from[nr++] = (struct iovec){ (void *)at, part };
		at += part;
	}
	got = process_vm_readv(pid, &to, 1, from, nr, 0);
	return got > 0 ? got : 0;
}

/* Room for a stack of that size, with what is there already. */
static void grow(struct defer_item *item, size_t bytes)
{
	item->memory = xreallocarray(item->memory, NR_REGS + bytes / 8 + 1, sizeof(*item->memory));
	if (item->start.regs)
		item->start.regs = item->memory;
	item->start.stack = (uint8_t *)(item->memory + NR_REGS);
}

bool defer_read_on(struct defer_item *item, uint64_t address)
{
	size_t have = item->start.stack_bytes, want = have ? 4 * have : FIRST_BYTES, got;
	uint64_t reach = address - item->start.sp;

	if (!item->pause.tid)
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
	grow(item, want);
	got = read_memory(item->pid, item->start.sp + have, (uint8_t *)item->start.stack + have,
			  want - have);
	if (!is_paused(item->pid, &item->pause)) {
		item->cut = UNWIND_END_MOVED;
		item->pause.tid = 0;
		return false;
	}
	item->cut = UNWIND_END_READ;
	item->start.stack_bytes = have + got;
	return reach < have + got;
}

bool defer_read_other(struct defer_item *item, uint64_t address)
{
	struct walk_start *s = &item->start;
	size_t i = s->nr_others, got;

	if (!item->pause.tid || i == WALK_OTHER_STACKS)
		return false;
	if (!item->others)
		item->others = xmalloc(WALK_OTHER_STACKS * FIRST_BYTES);
	s->others[i].at = (address - 2 * sizeof(uint64_t)) & -(uint64_t)sizeof(uint64_t);
	s->others[i].bytes = item->others + i * FIRST_BYTES;
	got = read_memory(item->pid, s->others[i].at, item->others + i * FIRST_BYTES, FIRST_BYTES);
	if (!is_paused(item->pid, &item->pause)) {
		item->cut = UNWIND_END_MOVED;
		item->pause.tid = 0;
		return false;
	}
	s->others[i].sz = got;
	s->nr_others++;
	return address - s->others[i].at < got;
}

size_t defer_left(const struct defer *d)
{
	return d->nr + d->nr_sleepers - d->first_sleeper;
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
}

void defer_release(struct defer *d)
{
	while (d->nr)
		defer_done(d, 0);
	free(d->items);
	free(d->sleepers);
}
