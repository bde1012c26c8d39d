/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A table of hashes from ids to rows, and a row's columns: where, and how much of each section. */
#include "symbol/dwarf_package.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "symbol/debug_part.h"
#include "symbol/dwarf_half.h"

#define MAX_INDEX    (64ull << 20)
#define MAX_UNPACKED (256ull << 20)
#define MAX_COLUMNS  16
#define MAX_STEPS    4096 /* over slots that are taken: of a table two thirds full, some 30 */

static const char *const names[DWARF_NR_PARTS] = {
	[DWARF_PART_INFO] = ".debug_info.dwo",
	[DWARF_PART_ABBREV] = ".debug_abbrev.dwo",
	[DWARF_PART_LINE] = ".debug_line.dwo",
	[DWARF_PART_STR_OFFSETS] = ".debug_str_offsets.dwo",
	[DWARF_PART_RNGLISTS] = ".debug_rnglists.dwo",
	[DWARF_PART_STR] = ".debug_str.dwo",
};

/* What columns are of, by version. Where 2 has no column for lists of ranges, 5 has one. */
static const struct {
	uint8_t v2, v5;
} columns[DWARF_NR_SLICES] = {
	[DWARF_PART_INFO] = { 1, 1 },	     [DWARF_PART_ABBREV] = { 3, 3 },
	[DWARF_PART_LINE] = { 4, 4 },	     [DWARF_PART_STR_OFFSETS] = { 6, 6 },
	[DWARF_PART_RNGLISTS] = { 0xff, 8 },
};

struct dwarf_package {
	const struct elf_file *file;
	struct debug_part parts[DWARF_NR_PARTS];
	uint8_t *unpacked[DWARF_NR_PARTS]; /* once it is needed */
	uint8_t *index;			   /* NULL: all is of one unit */
	uint32_t nr_columns, nr_units, nr_slots;
	const uint8_t *ids, *rows, *offsets, *sizes; /* in index */
	uint8_t column[DWARF_NR_SLICES];	     /* + 1; 0 = there is none */
};

static uint64_t number_at(const uint8_t *table, size_t sz, uint64_t i)
{
	struct cursor c = { table + i * sz, table + (i + 1) * sz, false };

	return cursor_uint(&c, sz);
}

/* --- the index --- */

static void take_columns(struct dwarf_package *p, const uint8_t *table, uint16_t version)
{
	for (uint32_t i = 0; i < p->nr_columns; i++)
		for (size_t k = 0; k < DWARF_NR_SLICES; k++)
			if (number_at(table, 4, i) ==
			    (version == 5 ? columns[k].v5 : columns[k].v2))
				p->column[k] = i + 1;
}

/* Counts are below 2^32 each, so no product of two and a few is more than a number holds. */
static bool take_index(struct dwarf_package *p, size_t sz)
{
	struct cursor c = { p->index, p->index + sz, false };
	uint16_t version = cursor_uint(&c, 2);
	const uint8_t *table;

	cursor_uint(&c, 2); /* the half of a version, or padding */
	p->nr_columns = cursor_uint(&c, 4);
	p->nr_units = cursor_uint(&c, 4);
	p->nr_slots = cursor_uint(&c, 4);
	if ((version != 2 && version != 5) || p->nr_columns > MAX_COLUMNS || !p->nr_slots ||
	    p->nr_slots & (p->nr_slots - 1))
		return false;
	p->ids = cursor_take(&c, 8ull * p->nr_slots).at;
	p->rows = cursor_take(&c, 4ull * p->nr_slots).at;
	table = cursor_take(&c, 4ull * p->nr_columns).at;
	p->offsets = cursor_take(&c, 4ull * p->nr_columns * p->nr_units).at;
	p->sizes = cursor_take(&c, 4ull * p->nr_columns * p->nr_units).at;
	if (c.bad)
		return false;
	take_columns(p, table, version);
	return p->column[DWARF_PART_INFO] && p->column[DWARF_PART_ABBREV];
}

static bool read_index(struct dwarf_package *p)
{
	struct debug_part part;

	if (!debug_part_find(p->file, ".debug_cu_index", &part) || part.size > MAX_INDEX ||
	    !debug_part_is_paid_for(p->file, part.size))
		return false;
	p->index = xcalloc(part.size + 1, 1);
	debug_part_read(p->file, &part, p->index);
	return take_index(p, part.size);
}

/* The row of an id, counted from 1; 0: there is none. */
static uint32_t find_row(const struct dwarf_package *p, uint64_t id)
{
	uint32_t mask = p->nr_slots - 1, at = id & mask, by = ((id >> 32) & mask) | 1, row;

	for (uint32_t i = 0; i < MAX_STEPS; i++, at = (at + by) & mask) {
		row = number_at(p->rows, 4, at);
		if (!row)
			return 0;
		if (number_at(p->ids, 8, at) == id)
			return row <= p->nr_units ? row : 0;
	}
	return 0;
}

static struct dwarf_slice clip(struct dwarf_slice s, uint64_t size)
{
	if (s.at >= size)
		return (struct dwarf_slice){};
	if (s.size > size - s.at)
		s.size = size - s.at;
	return s;
}

bool dwarf_package_find(const struct dwarf_package *p, uint64_t id,
			struct dwarf_slice slices[DWARF_NR_SLICES])
{
	uint32_t row = p->index ? find_row(p, id) : 0;

	if (p->index && !row)
		return false;
	for (size_t k = 0; k < DWARF_NR_SLICES; k++) {
		struct dwarf_slice s = { 0, p->index ? 0 : p->parts[k].size };

		if (row && p->column[k]) {
			uint64_t cell = (uint64_t)(row - 1) * p->nr_columns + p->column[k] - 1;

			s.at = number_at(p->offsets, 4, cell);
			s.size = number_at(p->sizes, 4, cell);
		}
		slices[k] = clip(s, p->parts[k].size);
	}
	return true;
}

/* --- sections --- */

static bool find_parts(struct dwarf_package *p)
{
	uint64_t unpacked = 0;

	for (size_t k = 0; k < DWARF_NR_PARTS; k++) {
		if (!debug_part_find(p->file, names[k], &p->parts[k]) || !p->parts[k].packed)
			continue;
		if (p->parts[k].size > MAX_UNPACKED - unpacked)
			return false;
		unpacked += p->parts[k].size;
	}
	return p->parts[DWARF_PART_INFO].from && p->parts[DWARF_PART_ABBREV].from &&
	       debug_part_is_paid_for(p->file, unpacked);
}

static bool has_code(const struct elf_file *f, const Elf64_Shdr *s)
{
	uint8_t bytes[DWARF_HEAD_MAX_BYTES];
	size_t sz = s->sh_size < sizeof(bytes) ? s->sh_size : sizeof(bytes);
	struct dwarf_head h;

	sz = elf_file_read(f, s->sh_offset, bytes, sz);
	return dwarf_head_read(&h, bytes, sz) && h.is_half;
}

/* Since version 5 each unit of types may be a section of the same name, before that of code. */
static void skip_types(struct dwarf_package *p)
{
	const struct elf_file *f = p->file;
	const Elf64_Shdr *first = p->parts[DWARF_PART_INFO].from;

	if (!first || p->parts[DWARF_PART_INFO].packed)
		return;
	for (const Elf64_Shdr *s = first; s < f->sections + f->nr_sections; s++) {
		struct debug_part part;

		if (s->sh_name == first->sh_name && has_code(f, s) && debug_part_of(f, s, &part)) {
			p->parts[DWARF_PART_INFO] = part;
			return;
		}
	}
}

struct dwarf_package *dwarf_package_open_single(const struct elf_file *f)
{
	struct dwarf_package *p = xcalloc(1, sizeof(*p));

	p->file = f;
	if (find_parts(p)) {
		skip_types(p);
		return p;
	}
	dwarf_package_close(p);
	return NULL;
}

struct dwarf_package *dwarf_package_open(const struct elf_file *f)
{
	struct dwarf_package *p = dwarf_package_open_single(f);

	if (!p || read_index(p))
		return p;
	dwarf_package_close(p);
	return NULL;
}

void dwarf_package_close(struct dwarf_package *p)
{
	if (!p)
		return;
	for (size_t k = 0; k < DWARF_NR_PARTS; k++)
		free(p->unpacked[k]);
	free(p->index);
	free(p);
}

uint64_t dwarf_package_size(const struct dwarf_package *p, enum dwarf_part part)
{
	return p->parts[part].size;
}

bool dwarf_package_is_paid_for(const struct dwarf_package *p, uint64_t bytes)
{
	return debug_part_is_paid_for(p->file, bytes);
}

void dwarf_package_read(struct dwarf_package *p, enum dwarf_part part, struct dwarf_slice slice,
			void *to)
{
	const struct debug_part *from = &p->parts[part];
	struct dwarf_slice there = clip(slice, from->size);
	size_t nr = there.size;

	if (from->packed && !p->unpacked[part] && nr) {
		p->unpacked[part] = xcalloc(from->size, 1);
		debug_part_read(p->file, from, p->unpacked[part]);
	}
	if (from->packed && nr)
		memcpy(to, p->unpacked[part] + there.at, nr);
	else if (nr)
		nr = elf_file_read(p->file, from->from->sh_offset + there.at, to, nr);
	memset((uint8_t *)to + nr, 0, slice.size - nr);
}
