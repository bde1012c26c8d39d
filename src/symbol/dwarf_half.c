/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A unit of version 5 has eight bytes more in its head when it is split: the id. One before has
 * them in the topmost DIE. Either way there is room for an address; numbers that stand in the
 * abbreviation take none.
 */
#include "symbol/dwarf_half.h"

#include <dwarf.h>
#include <string.h>

#include "base/cursor.h"

#define CODE	   0x1fffff /* of the abbreviation: compilers count from 1 */
#define CODE_BYTES 3

bool dwarf_head_read(struct dwarf_head *h, const uint8_t *bytes, size_t sz)
{
	struct cursor c = { bytes, bytes + sz, false };
	uint64_t len = cursor_uint(&c, 4), offset_sz;

	*h = (struct dwarf_head){ .wide = len == 0xffffffff };
	if (h->wide)
		len = cursor_uint(&c, 8);
	offset_sz = h->wide ? 8 : 4;
	if (len > UINT32_MAX)
		return false;
	h->size = len + (c.at - bytes);
	h->version = cursor_uint(&c, 2);
	h->is_half = true;
	if (h->version >= 5) {
		h->is_half = cursor_u8(&c) == DW_UT_split_compile;
		cursor_u8(&c); /* the size of an address */
	}
	h->abbrev_at = c.at - bytes;
	h->abbrevs = cursor_uint(&c, offset_sz);
	if (h->version < 5)
		cursor_u8(&c);
	else if (h->is_half)
		h->id = cursor_uint(&c, 8);
	h->die_at = c.at - bytes;
	return !c.bad && h->version >= 4 && h->version <= 5 && h->size > h->die_at;
}

void dwarf_head_move_abbrevs(const struct dwarf_head *h, uint8_t *unit)
{
	memset(unit + h->abbrev_at, 0, h->wide ? 8 : 4);
}

static uint8_t *put(uint8_t *to, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*to++ = number | 0x80;
	*to++ = number;
	return to;
}

static uint8_t *put_attribute(uint8_t *to, unsigned int name, unsigned int form)
{
	return put(put(to, name), form);
}

/* A number with a sign, whose bit is clear. */
static uint8_t *put_constant(uint8_t *to, unsigned int name, uint64_t number)
{
	to = put_attribute(to, name, DW_FORM_implicit_const);
	for (; number > 0x3f; number >>= 7)
		*to++ = number | 0x80;
	*to++ = number;
	return to;
}

/* What is left of the DIE that was there becomes something that nobody asks for. */
static uint8_t *put_padding(uint8_t *to, uint8_t *at, uint64_t left)
{
	uint16_t block = left - 2;

	if (left == 1)
		to = put_attribute(to, DW_AT_description, DW_FORM_data1);
	else if (left)
		to = put_attribute(to, DW_AT_description, DW_FORM_block2);
	if (left > 1)
		memcpy(at, &block, sizeof(block));
	return to;
}

uint64_t dwarf_root_put(const struct dwarf_head *h, const struct dwarf_bases *b, uint8_t *unit,
			uint64_t end, uint8_t to[DWARF_ROOT_MAX_ABBREV], size_t *sz)
{
	uint64_t begin = h->die_at - (h->version >= 5 ? sizeof(h->id) : 0);
	uint64_t taken = begin + CODE_BYTES + sizeof(b->address);
	uint8_t *at = to;

	if (end < taken || end > h->size || end - taken > UINT16_MAX)
		return 0;
	if (h->version >= 5)
		unit[h->abbrev_at - 2] = DW_UT_compile;
	put(unit + begin, CODE);
	memcpy(unit + begin + CODE_BYTES, &b->address, sizeof(b->address));
	at = put(at, CODE);
	at = put(at, DW_TAG_compile_unit);
	at = put(at, DW_CHILDREN_yes);
	at = put_attribute(at, DW_AT_low_pc, DW_FORM_addr);
	if (h->version >= 5) {
		at = put_constant(at, DW_AT_addr_base, 0);
		at = put_constant(at, DW_AT_str_offsets_base, b->str_offsets);
		at = put_constant(at, DW_AT_rnglists_base, b->rnglists);
	}
	at = put_padding(at, unit + taken, end - taken);
	at = put_attribute(at, 0, 0);
	*sz = at - to;
	return begin;
}
