/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* x86-64: bytes that are, or look like, branches and addresses. */
#include <string.h>

#include "uprobe/entries.h"

#define NR_SEEN 4096u /* a power of two */

/* Bases of tables that were followed, by their low bits: most are named many times in a row. */
struct seen {
	uint64_t bases[NR_SEEN];
};

static int32_t offset_at(const uint8_t *bytes)
{
	int32_t offset;

	memcpy(&offset, bytes, sizeof(offset));
	return offset;
}

/* Bytes of the opcode in front of a 4-byte offset: call, jmp, jcc, xbegin; 0 for no branch. */
static size_t branch_opcode(const uint8_t *b)
{
	if (b[0] == 0xe8 || b[0] == 0xe9)
		return 1;
	if ((b[0] == 0x0f && b[1] >> 4 == 8) || (b[0] == 0xc7 && b[1] == 0xf8))
		return 2;
	return 0;
}

/* lea of an address relative to the next instruction. */
static bool is_lea(const uint8_t *b)
{
	return b[0] == 0x8d && (b[1] & 0xc7) == 5;
}

static void mark_lea(struct image *img, uint64_t address, struct seen *seen)
{
	uint64_t *slot = &seen->bases[address / 4 % NR_SEEN];

	image_mark(img, address);
	if (address % 4 || *slot == address)
		return;
	*slot = address;
	entries_mark_table(img, address);
}

void entries_mark_x86(struct image *img, const struct image_range *r)
{
	struct seen seen = {};

	for (size_t i = 0; i + 5 <= r->sz; i++) {
		const uint8_t *b = r->bytes + i;
		uint64_t address = r->start + i;
		size_t opcode = branch_opcode(b);

		if (opcode)
			image_mark(img, address + opcode + 4 + offset_at(b + opcode));
		else if (is_lea(b))
			mark_lea(img, address + 6 + offset_at(b + 2), &seen);
		if (img->is_fixed)
			image_mark(img, (uint32_t)offset_at(b));
	}
}
