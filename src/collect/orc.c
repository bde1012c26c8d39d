/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "collect/orc.h"

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
	__atomic_store_n(&o->ready, 1, __ATOMIC_RELEASE);
	return true;
}
