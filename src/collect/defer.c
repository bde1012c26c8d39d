/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of walks to be made. */
#include "collect/defer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/mem.h"

#define PAGE_BYTES   4096u
#define ASLEEP_BYTES (128u << 10) /* of a stack, at most */
#define NR_REGS	     (sizeof(((struct prof_deferred *)0)->regs) / 8)

#if defined(__x86_64__)
#define OUR_ARCH TABLE_X86
#else
#define OUR_ARCH TABLE_ARM64
#endif

static struct prof_deferred *slot_get(const struct defer *d, uint64_t index)
{
	return &d->slots[index & (d->nr_slots - 1)];
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

/* Switches of a thread so far, voluntary or not; 0 = it is gone. */
static uint64_t nr_switches(uint32_t pid, uint32_t tid)
{
	char line[256];
	uint64_t sum = 0, nr;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%u/task/%u/status", pid, tid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*[a-z]_ctxt_switches: %" SCNu64, &nr) == 1)
			sum += nr;
	if (f)
		fclose(f);
	return sum;
}

/*
 * The stack of a thread that was asleep when the recording began, out of its memory. If it has run
 * meanwhile there is nothing to be had.
 */
static uint64_t *copy_asleep(const struct prof_deferred *slot, uint32_t pid, size_t *stack_bytes)
{
	uint64_t *memory = xmalloc(NR_REGS * sizeof(*memory) + ASLEEP_BYTES);
	struct iovec to = { memory + NR_REGS, ASLEEP_BYTES }, from[ASLEEP_BYTES / PAGE_BYTES];
	size_t nr = sizeof(from) / sizeof(*from);
	uint64_t at = slot->sp, next;
	ssize_t got;

	memcpy(memory, slot->regs, NR_REGS * sizeof(*memory));
	for (size_t i = 0; i < nr; i++) { /* page by page: up to where the stack ends */
		next = (at | (PAGE_BYTES - 1)) + 1;
		from[i] = (struct iovec){ (void *)at, next - at };
		at = next;
	}
	got = process_vm_readv(pid, &to, 1, from, nr, 0);
	if (got < 0 || nr_switches(pid, slot->words[0]) != slot->words[1])
		got = 0;
	*stack_bytes = got;
	return memory;
}

void defer_take(struct defer *d, const struct arena_stack *s, uint64_t pc_mask)
{
	struct prof_deferred *from = slot_get(d, s->frames[0]);
	struct defer_item *item;

	d->items = xgrow(d->items, d->nr, &d->cap, sizeof(*d->items));
	item = &d->items[d->nr++];
	*item = (struct defer_item){ .slot = s->slot,
				     .pid = s->pid,
				     .time_ns = s->time_ns,
				     .start_stack = from->start_stack };
	item->start = (struct walk_start){ .arch = OUR_ARCH,
					   .pc = from->pc,
					   .sp = from->sp,
					   .fp = from->fp,
					   .lr = from->lr,
					   .pc_mask = pc_mask };
	if (from->state == PROF_DEFERRED_ASLEEP) {
		item->memory = copy_asleep(from, s->pid, &item->start.stack_bytes);
		item->gone = !item->start.stack_bytes;
	} else {
		item->memory = copy(d, s, &item->start.stack_bytes);
	}
	item->start.regs = item->memory;
	item->start.stack = (uint8_t *)(item->memory + NR_REGS);
	for (uint32_t i = 0; i < s->nr_frames; i++)
		__atomic_store_n(&slot_get(d, s->frames[i])->state, 0, __ATOMIC_RELEASE);
}

void defer_done(struct defer *d, size_t i)
{
	free(d->items[i].memory);
	d->items[i] = d->items[--d->nr];
}

void defer_release(struct defer *d)
{
	while (d->nr)
		defer_done(d, 0);
	free(d->items);
}
