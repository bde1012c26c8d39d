/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bounded reading of numbers, as DWARF writes them. */
#include "base/cursor.h"

#include <string.h>

struct cursor cursor_take(struct cursor *c, uint64_t sz)
{
	struct cursor taken = { c->at, c->at, false };

	if (sz > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		c->at = taken.at = taken.end = c->end;
		return taken;
	}
	c->at += sz;
	taken.end = c->at;
	return taken;
}

uint64_t cursor_uint(struct cursor *c, size_t sz)
{
	const uint8_t *at = cursor_take(c, sz).at;
	uint16_t v2;
	uint32_t v4;
	uint64_t v8;

	if (c->bad)
		return 0;
	switch (sz) {
	case 1:
		return *at;
	case 2:
		memcpy(&v2, at, sizeof(v2));
		return v2;
	case 4:
		memcpy(&v4, at, sizeof(v4));
		return v4;
	default:
		memcpy(&v8, at, sizeof(v8));
		return v8;
	}
}

/* The bits of a number, and how many: behind 64 they are dropped. */
static uint64_t read_leb(struct cursor *c, unsigned int *bits)
{
	uint64_t v = 0;
	uint8_t byte;

	*bits = 0;
	do {
		byte = cursor_u8(c);
		if (*bits < 64)
			v |= (uint64_t)(byte & 0x7f) << *bits;
		*bits += 7;
	} while ((byte & 0x80) && *bits < 7 * CURSOR_MAX_LEB);
	c->bad |= byte >> 7;
	return v;
}

uint64_t cursor_uleb(struct cursor *c)
{
	unsigned int bits;

	/* Nearly all are small. */
	if (c->at < c->end && *c->at < 0x80)
		return *c->at++;
	return read_leb(c, &bits);
}

int64_t cursor_sleb(struct cursor *c)
{
	unsigned int bits;
	uint64_t v = read_leb(c, &bits);

	if (bits < 64 && (v >> (bits - 1) & 1))
		v |= -(uint64_t)1 << bits;
	return (int64_t)v;
}
