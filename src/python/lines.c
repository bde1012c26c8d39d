/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "python/lines.h"

/* Pairs: how far on, and how many lines. A line begins where the steps so far lead. */
static uint32_t by_lnotab(uint32_t line, const uint8_t *table, size_t sz, uint32_t at)
{
	uint32_t address = 0;

	for (size_t i = 0; i + 1 < sz; i += 2) {
		address += table[i];
		if (address > at)
			break;
		line += (int8_t)table[i + 1];
	}
	return line;
}

#define NO_LINE (-128)

/* Pairs: how long a stretch is, and its line less that of the one before. */
static uint32_t by_linetable(uint32_t line, const uint8_t *table, size_t sz, uint32_t at)
{
	uint32_t end = 0;

	for (size_t i = 0; i + 1 < sz; i += 2) {
		int8_t by = table[i + 1];

		line += by == NO_LINE ? 0 : by;
		end += table[i];
		if (at < end)
			return by == NO_LINE ? 0 : line;
	}
	return 0;
}

/* Six bits in each byte, the lowest first; the seventh says that more follow. */
static uint32_t take_varint(const uint8_t *table, size_t sz, size_t *i)
{
	uint32_t value = 0;

	for (unsigned int shift = 0; *i < sz && shift < 32; shift += 6) {
		uint8_t byte = table[(*i)++];

		value |= (uint32_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value;
}

/* The lowest bit is the sign. */
static int32_t take_signed(const uint8_t *table, size_t sz, size_t *i)
{
	uint32_t value = take_varint(table, sz, i);

	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 }; /* 10 to 12: columns in bytes */

/* Entries: 1 | kind : 4 | length - 1 : 3, then what the kind has. */
static uint32_t by_locations(uint32_t line, const uint8_t *table, size_t sz, uint32_t index)
{
	uint32_t end = 0;

	for (size_t i = 0; i < sz;) {
		uint8_t head = table[i++], kind = head >> 3 & 15;

		if (!(head & 128))
			return 0;
		if (kind == NO_COLUMNS || kind == LONG)
			line += take_signed(table, sz, &i);
		else if (kind >= ONE_LINE && kind < NO_COLUMNS)
			line += kind - ONE_LINE;
		end += (head & 7) + 1u;
		if (index < end)
			return kind == NONE ? 0 : line;
		while (i < sz && !(table[i] & 128)) /* columns */
			i++;
	}
	return 0;
}

uint32_t python_line(enum python_lines how, uint32_t first, const uint8_t *table, size_t sz,
		     uint32_t index)
{
	switch (how) {
	case LINES_LNOTAB:
		return by_lnotab(first, table, sz, index * 2);
	case LINES_LINETABLE:
		return by_linetable(first, table, sz, index * 2);
	default:
		return by_locations(first, table, sz, index);
	}
}
