/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aarch64: words that are branches and addresses. */
#include <string.h>

#include "uprobe/entries.h"

/* A signed field of bits, in units of four bytes. */
static int64_t field(uint32_t word, unsigned int low, unsigned int bits)
{
	return ((int64_t)((uint64_t)word << (64 - low - bits)) >> (64 - bits)) * 4;
}

static bool branch_target(uint32_t word, int64_t *offset)
{
	if ((word & 0x7c000000) == 0x14000000)
		*offset = field(word, 0, 26); /* b, bl */
	else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
		*offset = field(word, 5, 19); /* b.cond, cbz, cbnz */
	else if ((word & 0x7e000000) == 0x36000000)
		*offset = field(word, 5, 14); /* tbz, tbnz */
	else
		return false;
	return true;
}

static bool is_adr(uint32_t word, int64_t *offset)
{
	*offset = (field(word, 5, 19)) | (word >> 29 & 3);
	return (word & 0x9f000000) == 0x10000000;
}

/* adrp and the add behind it: where tables and functions are. */
static bool is_adrp_add(const uint32_t *words, uint64_t address, uint64_t *target)
{
	uint64_t pages = (uint64_t)(field(words[0], 5, 19) | (words[0] >> 29 & 3));

	if ((words[0] & 0x9f000000) != 0x90000000 || (words[1] & 0xffc00000) != 0x91000000 ||
	    (words[1] >> 5 & 31) != (words[0] & 31))
		return false;
	*target = (address & ~0xfffull) + (pages << 12) + (words[1] >> 10 & 0xfff);
	return true;
}

void entries_mark_arm64(struct image *img, const struct image_range *r)
{
	uint32_t words[2];
	uint64_t target;
	int64_t offset;

	for (size_t i = -r->start & 3; i + 4 <= r->sz; i += 4) {
		uint64_t address = r->start + i;

		memcpy(words, r->bytes + i, sizeof(words));
		if (branch_target(words[0], &offset) || is_adr(words[0], &offset))
			image_mark(img, address + offset);
		if (!is_adrp_add(words, address, &target))
			continue;
		image_mark(img, target);
		entries_mark_table(img, target);
	}
}

/* br, braa and the like. */
static bool is_indirect(uint32_t word)
{
	return (word & 0xfefff000) == 0xd61f0000;
}

/* Jumps through x16 and x17 are those of stubs and of tail calls, which leave the function. */
bool entries_may_hide(const struct image *img, uint64_t address, uint64_t sz)
{
	size_t have = 0;
	const uint8_t *bytes = image_code(img, address, &have);
	uint32_t word;

	for (size_t i = 0; i + sizeof(word) <= have && i < sz; i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		if (is_indirect(word) && (word >> 5 & 31) != 16 && (word >> 5 & 31) != 17)
			return true;
	}
	return false;
}
