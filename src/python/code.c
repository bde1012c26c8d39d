/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "python/code.h"

#include <stdlib.h>

#include "base/mem.h"
#include "python/lines.h"

#define OBJECT_TYPE 8 /* in every object */
#define LENGTH	    16
#define STR_STATE   32
#define BYTES_DATA  32
#define MAX_TABLE   65536

/* How a str keeps its characters. */
struct state {
	uint32_t kind; /* bytes of each: 1, 2 or 4 */
	bool is_compact, is_ascii;
};

/* In 3.14 sixteen bits, before two, say whether it is interned. */
static bool read_state(const struct memory *m, uint64_t str, struct state *s)
{
	uint32_t bits;

	if (!memory_u32(m, str + STR_STATE, &bits))
		return false;
	for (unsigned int interned = 2; interned <= 16; interned += 14) {
		*s = (struct state){ bits >> interned & 7, bits >> (interned + 3) & 1,
				     bits >> (interned + 4) & 1 };
		if ((s->kind == 1 || s->kind == 2 || s->kind == 4) && s->is_compact)
			return true;
	}
	return false;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = 0xc0 | c >> 6;
		to[1] = 0x80 | (c & 0x3f);
		return 2;
	}
	if (c < 0x10000) {
		to[0] = 0xe0 | c >> 12;
		to[1] = 0x80 | (c >> 6 & 0x3f);
		to[2] = 0x80 | (c & 0x3f);
		return 3;
	}
	to[0] = 0xf0 | (c >> 18 & 7);
	to[1] = 0x80 | (c >> 12 & 0x3f);
	to[2] = 0x80 | (c >> 6 & 0x3f);
	to[3] = 0x80 | (c & 0x3f);
	return 4;
}

static uint32_t character(const uint8_t *from, uint32_t kind)
{
	uint32_t c = 0;

	for (uint32_t i = 0; i < kind; i++)
		c |= (uint32_t)from[i] << 8 * i;
	return c;
}

/* As much of a str as there is room for, as UTF-8. False: it is none. */
static bool read_str(const struct python_code_offsets *o, const struct memory *m, uint64_t str,
		     char *to, size_t room)
{
	uint8_t chunk[PYTHON_MAX_NAME];
	struct state s;
	uint64_t len, at;
	size_t nr = 0, part;

	if (!str || !memory_word(m, str + LENGTH, &len) || !len || len > INT32_MAX ||
	    !read_state(m, str, &s))
		return false;
	at = str + (s.is_ascii ? o->ascii : o->compact);
	for (uint64_t left = len * s.kind; left && nr + 5 < room; left -= part) {
		part = left < sizeof(chunk) ? left : sizeof(chunk);
		if (!memory_read(m, at, chunk, part))
			return false;
		for (size_t i = 0; i < part && nr + 5 < room; i += s.kind)
			nr += put_utf8(to + nr, character(chunk + i, s.kind));
		at += part;
	}
	to[nr] = 0;
	return true;
}

static bool read_field(const struct python_code_offsets *o, const struct memory *m, uint64_t code,
		       uint16_t field, char *to, size_t room)
{
	uint64_t str;

	return field && memory_word(m, code + field, &str) && read_str(o, m, str, to, room);
}

static uint32_t read_line(const struct python_code_offsets *o, const struct memory *m,
			  uint64_t code, uint32_t index)
{
	uint32_t first, line = 0;
	uint64_t bytes, sz;
	uint8_t *table;

	if (!memory_u32(m, code + o->first_line, &first) || first > INT32_MAX)
		return 0;
	if (index >= PYTHON_FAR || !memory_word(m, code + o->lines, &bytes) ||
	    !memory_word(m, bytes + LENGTH, &sz) || sz > MAX_TABLE)
		return first;
	table = xmalloc(sz + 1);
	if (memory_read(m, bytes + BYTES_DATA, table, sz))
		line = python_line(o->how, first, table, sz, index);
	free(table);
	return line ? line : first;
}

bool python_code_read(struct python_code *c, const struct python_code_offsets *o,
		      const struct memory *m, uint64_t word)
{
	uint64_t code = PYTHON_CODE(word), type;

	if (!memory_word(m, code + OBJECT_TYPE, &type) || type != o->type)
		return false;
	if (!read_field(o, m, code, o->qualname, c->name, sizeof(c->name)) &&
	    !read_field(o, m, code, o->name, c->name, sizeof(c->name)))
		return false;
	if (!read_field(o, m, code, o->file, c->file, sizeof(c->file)))
		c->file[0] = 0;
	c->line = read_line(o, m, code, PYTHON_INDEX(word));
	return true;
}
