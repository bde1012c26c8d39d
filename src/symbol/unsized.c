/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Evidence that a function without a size is over: unwind tables, and padding behind a return. */
#include "symbol/unsized.h"

#include <string.h>

#define ALIGNED_TO 16u

#define ARM_RET 0xd65f03c0u
#define ARM_NOP 0xd503201fu

/* Both lie in the same function, or in the same gap between two. */
static bool is_same_function(const struct fdes *f, uint64_t start, uint64_t vaddr)
{
	uint64_t next;

	if (fdes_find(f, start, &next) != fdes_find(f, vaddr, NULL))
		return false;
	return !next || vaddr < next;
}

/* The length of the instruction at p if it does nothing, as assemblers fill gaps; else 0. */
static size_t filler_length(const uint8_t *p, size_t left)
{
	static const uint8_t operands[] = {
		[0x00] = 1, [0x40] = 2, [0x44] = 3, [0x80] = 5, [0x84] = 6
	};
	size_t n = 0;

	while (n < left && (p[n] == 0x66 || p[n] == 0x2e))
		n++;
	if (n < left && (p[n] == 0x90 || (!n && p[n] == 0xcc)))
		return n + 1;
	if (left - n < 3 || p[n] != 0x0f || p[n + 1] != 0x1f || p[n + 2] >= sizeof(operands) ||
	    !operands[p[n + 2]])
		return 0;
	return n + 2 + operands[p[n + 2]];
}

/* Does nothing but fillers lie from p up to an aligned address? */
static bool x86_is_padded(const uint8_t *p, size_t left, uint64_t vaddr)
{
	size_t want = -vaddr % ALIGNED_TO, n;

	if (!want || want > left)
		return false;
	for (; want; p += n, want -= n) {
		n = filler_length(p, want);
		if (!n || n > want)
			return false;
	}
	return true;
}

static bool x86_ends(const uint8_t *code, size_t sz, uint64_t vaddr)
{
	for (size_t i = 0; i < sz; i++) {
		if (code[i] == 0xc3 && x86_is_padded(code + i + 1, sz - i - 1, vaddr + i + 1))
			return true;
		if (sz - i > 2 && code[i] == 0xc2 &&
		    x86_is_padded(code + i + 3, sz - i - 3, vaddr + i + 3))
			return true;
	}
	return false;
}

static bool arm_ends(const uint8_t *code, size_t sz)
{
	uint32_t pair[2];

	for (size_t i = 0; i + sizeof(pair) <= sz; i += sizeof(*pair)) {
		memcpy(pair, code + i, sizeof(pair));
		if (pair[0] == ARM_RET && (pair[1] == ARM_NOP || !pair[1]))
			return true;
	}
	return false;
}

bool unsized_reaches(const struct elf_file *f, const struct fdes *fdes, uint64_t start,
		     uint64_t vaddr)
{
	uint8_t code[UNSIZED_REACH];
	uint64_t offset;
	size_t sz = vaddr - start;

	if (!sz)
		return true;
	if (sz >= sizeof(code) || !is_same_function(fdes, start, vaddr) ||
	    !elf_file_offset(f, start, &offset))
		return false;
	sz = elf_file_read(f, offset, code, sz);
	return f->header.e_machine == EM_AARCH64 ? !arm_ends(code, sz) : !x86_ends(code, sz, start);
}
