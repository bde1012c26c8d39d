/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Short jumps of x86-64. Each byte that could be the opcode of one is looked at, and is one unless
 * the function around it, decoded from its beginning, has no instruction that ends where the jump
 * would.
 */
#include "uprobe/place_parts.h"

#define REACH 130 /* bytes from a short jump to where it goes, at most */

/* jcc, jmp, loop, jrcxz. */
static bool is_opcode(uint8_t byte)
{
	return byte >> 4 == 7 || byte == 0xeb || (byte >= 0xe0 && byte <= 0xe3);
}

/* Where decoding begins without doubt for an address; false when no such place is known. */
static bool start_of(const struct places *p, uint64_t address, uint64_t *start)
{
	const struct uprobe_function *f = functions_at(p->functions, address);
	uint64_t unwind = fdes_find(&p->fdes, address, NULL);

	*start = f ? f->address : 0;
	if (unwind > *start)
		*start = unwind;
	return *start;
}

/* Whether an instruction ends at an address. What cannot be decoded does. */
static bool ends_at(const struct places *p, uint64_t start, uint64_t end)
{
	struct insn insn;
	size_t sz;

	while (start < end) {
		const uint8_t *bytes = image_code(&p->image, start, &sz);

		if (!bytes || !decoder_next(p->decoder, bytes, sz, start, &insn))
			return true;
		start += insn.len;
	}
	return start == end;
}

static bool is_jump(const struct places *p, uint64_t address)
{
	uint64_t start;

	return !start_of(p, address, &start) || ends_at(p, start, address + 2);
}

bool place_has_short_jump(struct places *p, uint64_t from, uint64_t to)
{
	uint64_t at = from > REACH ? from - REACH : 0, target;
	const uint8_t *b;
	size_t sz;

	for (; at < to + REACH; at++) {
		b = image_code(&p->image, at, &sz);
		if (!b || sz < 2 || !is_opcode(b[0]))
			continue;
		target = at + 2 + (int8_t)b[1];
		if (target > from && target <= to && is_jump(p, at))
			return true;
	}
	return false;
}
