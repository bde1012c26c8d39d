/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading bytes that may end too early. What would lie behind the end is 0, and the cursor is bad
 * from then on: it is enough to ask once, after several reads.
 */
#ifndef BPFPROF_BASE_CURSOR_H
#define BPFPROF_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (c->at < c->end)
		return *c->at++;
	c->bad = true;
	return 0;
}

/* An unsigned number of 1, 2, 4 or 8 bytes, in our byte order. 0 when the cursor is bad. */
uint64_t cursor_uint(struct cursor *c, size_t sz);

/* Bits above 64 are dropped; a number of more bytes than this is bad. */
#define CURSOR_MAX_LEB 16
uint64_t cursor_uleb(struct cursor *c);
int64_t cursor_sleb(struct cursor *c);

/* The next sz bytes as a cursor of their own: an empty one when there are less. */
struct cursor cursor_take(struct cursor *c, uint64_t sz);

#endif
