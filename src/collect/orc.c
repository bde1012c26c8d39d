/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "collect/orc.h"

#include <stddef.h>

#define ENTRY_BYTES 6 /* struct orc_entry: offsets of 16 bits, registers of 4 bits, a kind */

/* Entries from number first on that are in the chunk. False: they are not in order. */
static bool take(struct prof_orc *o, uint32_t first, uint32_t nr, uint64_t *page)
{
	uint64_t nr_pages = (o->text_end - o->text - 1) / (1u << PROF_ORC_SHIFT) + 1;
	uint64_t before = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t at = o->ips + 4 * ((uint64_t)first + i) + (int64_t)(int32_t)o->chunk[i];

		if (at < before)
			return false;
		before = at;
		/* Pages that begin below it have the entry before as their last. */
		while (*page <= nr_pages && o->text + (*page << PROF_ORC_SHIFT) < at)
			o->pages[(*page)++] = first + i ? first + i - 1 : 0;
	}
	return true;
}

/*
 * Numbers of registers are not in the type information. Nearly all entries go by the stack pointer,
 * so its number shows which list of them the kernel has.
 */
static bool find_registers(struct prof_orc *o)
{
	static const struct {
		uint32_t sp, cfa;
	} lists[] = { { 5, 1 }, { 3, 8 } /* kernel 7.x */ };
	const uint8_t *entry = (const uint8_t *)o->chunk;
	uint32_t nr = sizeof(o->chunk) / ENTRY_BYTES, seen[16] = {};

	for (uint32_t i = 0; i < nr; i++)
		seen[entry[i * ENTRY_BYTES + 4] & 15]++;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (seen[lists[i].sp] < nr - nr / 4)
			continue;
		o->reg_sp = lists[i].sp;
		o->reg_cfa = lists[i].cfa;
		return true;
	}
	return false;
}

bool orc_fill(struct prof_orc *o, bool (*read)(void *arg), void *arg)
{
	uint64_t nr_pages, page = 0, nr;

	o->from = 0;
	if (!read(arg) || !o->text || o->text_end <= o->text || o->ips_end <= o->ips || !o->entries)
		return false;
	nr = (o->ips_end - o->ips) / 4;
	nr_pages = (o->text_end - o->text - 1) / (1u << PROF_ORC_SHIFT) + 1;
	if (nr_pages >= PROF_ORC_PAGES || nr < PROF_ORC_CHUNK || nr > UINT32_MAX)
		return false;
	for (uint64_t first = 0; first < nr; first += PROF_ORC_CHUNK) {
		/* The last one ends where the table does. */
		uint64_t from = first + PROF_ORC_CHUNK > nr ? nr - PROF_ORC_CHUNK : first;

		o->from = o->ips + 4 * from;
		if (!read(arg) || !take(o, (uint32_t)from, PROF_ORC_CHUNK, &page))
			return false;
	}
	while (page <= nr_pages)
		o->pages[page++] = (uint32_t)nr - 1;
	o->from = o->entries;
	if (!read(arg) || !find_registers(o))
		return false;
	__atomic_store_n(&o->ready, 1, __ATOMIC_RELEASE);
	return true;
}
