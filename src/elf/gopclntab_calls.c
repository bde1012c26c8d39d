/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source lines, and calls that were inlined. At an address a number leads to a record of the
 * innermost call; it names the function, and a place in the function around where the call stood.
 * There the same is asked again, until there is no record.
 */
#include <string.h>

#include "elf/gopclntab_parts.h"

/* Of what is known about a function. */
#define FN_FILES    20
#define FN_LINES    24
#define FN_NR_PCS   28
#define FN_UNIT	    32
#define FN_END(t)   ((t)->h.magic == GO_1_18 ? 40 : 44) /* then numbers, then data */
#define PCS_INLINED 2
#define DATA_CALLS  3
#define NO_DATA	    UINT32_MAX
#define MAX_WORK    (1u << 29)

/* A record of an inlined call: what of it is read. */
struct record {
	uint32_t name, place;
};

static uint32_t field(const struct gopclntab *t, const struct gopclntab_function *fn, uint64_t at)
{
	uint32_t value;

	return gopclntab_u32(t, fn->row + at, &value) ? value : 0;
}

/* The number at an address, -1 when there is none. */
static int64_t value_at(struct gopclntab *t, const struct gopclntab_function *fn, uint32_t off,
			uint64_t vaddr)
{
	struct gopclntab_values v;

	if (!gopclntab_values(t, fn, off, &v))
		return -1;
	while (t->work++ < MAX_WORK && gopclntab_next(&v))
		if (vaddr < v.to)
			return v.value;
	return -1;
}

static const char *file_name(struct gopclntab *t, const struct gopclntab_function *fn,
			     uint64_t vaddr)
{
	int64_t index = value_at(t, fn, field(t, fn, FN_FILES), vaddr);
	uint64_t unit = field(t, fn, FN_UNIT);
	uint32_t file;

	if (index < 0 || !gopclntab_u32(t, t->h.units + (unit + (uint64_t)index) * 4, &file) ||
	    file == UINT32_MAX || t->h.files + file >= t->sz)
		return NULL;
	return (const char *)t->bytes + t->h.files + file;
}

/* Number of the record of the innermost call at an address, -1 = nothing was inlined there. */
static int64_t inlined_at(struct gopclntab *t, const struct gopclntab_function *fn, uint64_t vaddr)
{
	if (field(t, fn, FN_NR_PCS) <= PCS_INLINED)
		return -1;
	return value_at(t, fn, field(t, fn, FN_END(t) + 4 * PCS_INLINED), vaddr);
}

/* Where the records of a function's inlined calls begin, 0 = nowhere. */
static uint64_t records_of(const struct gopclntab *t, const struct gopclntab_function *fn)
{
	uint64_t nr_pcs = field(t, fn, FN_NR_PCS);
	uint8_t nr_data = fn->row + FN_END(t) <= t->sz ? t->bytes[fn->row + FN_END(t) - 1] : 0;
	uint32_t off;

	if (!t->gofunc || nr_data <= DATA_CALLS)
		return 0;
	off = field(t, fn, FN_END(t) + 4 * (nr_pcs + DATA_CALLS));
	return off == NO_DATA ? 0 : t->gofunc + off;
}

static bool read_record(const struct gopclntab *t, uint64_t records, int64_t i, struct record *r)
{
	size_t sz = t->h.magic == GO_1_18 ? 20 : 16, name = t->h.magic == GO_1_18 ? 12 : 4;
	size_t place = t->h.magic == GO_1_18 ? 16 : 8;
	uint8_t bytes[20];
	uint64_t offset;

	if (!records || !elf_file_offset(t->file, records + (uint64_t)i * sz, &offset) ||
	    elf_file_read(t->file, offset, bytes, sz) != sz)
		return false;
	memcpy(&r->name, bytes + name, sizeof(r->name));
	memcpy(&r->place, bytes + place, sizeof(r->place));
	return true;
}

size_t gopclntab_calls(struct gopclntab *t, uint64_t vaddr, struct gopclntab_call *calls,
		       size_t max)
{
	struct gopclntab_function fn;
	struct record record;
	uint64_t records;
	int64_t i, line;
	size_t nr = 0;

	if (!max || !gopclntab_find(t, vaddr, &fn))
		return 0;
	records = records_of(t, &fn);
	while (nr < max) {
		line = value_at(t, &fn, field(t, &fn, FN_LINES), vaddr);
		calls[nr] = (struct gopclntab_call){ .name = fn.name,
						     .file = file_name(t, &fn, vaddr),
						     .line = line > 0 ? line : 0 };
		i = inlined_at(t, &fn, vaddr);
		if (i < 0 || nr + 1 == max || !read_record(t, records, i, &record) ||
		    !gopclntab_name(t, record.name) || record.place >= fn.end - fn.start)
			return nr + 1;
		calls[nr++].name = gopclntab_name(t, record.name);
		vaddr = fn.start + record.place;
	}
	return nr;
}
