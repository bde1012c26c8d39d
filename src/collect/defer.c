/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of walks to be made. */
#include "collect/defer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NR_REGS (sizeof(((struct prof_deferred *)0)->regs) / 8)

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
	item->memory = copy(d, s, &item->start.stack_bytes);
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
