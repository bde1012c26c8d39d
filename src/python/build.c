/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Everything here is exported, so that extensions can be linked: stripped files say it too. Not
 * exported is the part of the evaluator that compilers put elsewhere, as unlikely: it is what many
 * branches of the evaluator lead into the middle of.
 */
#include "python/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/eh_header.h"
#include "elf/gnu_hash.h"

#define MAX_EVALUATOR (4u << 20) /* bytes; those known have up to 60 KB */
#define MAX_ROWS      (1u << 20)
#define ENOUGH	      8 /* branches: others hit a function by chance */

static bool find(const struct elf_file *f, const char *name, uint64_t *vaddr)
{
	Elf64_Sym sym;

	if (!gnu_hash_find(f, name, &sym))
		return false;
	*vaddr = sym.st_value;
	return true;
}

/* Since 3.11 the file says it; before, by functions that were new. */
static uint32_t version_of(const struct elf_file *f)
{
	static const struct {
		const char *function;
		uint32_t version;
	} firsts[] = {
		{ "PyModule_AddObjectRef", PYTHON_VERSION(3, 10) },
		{ "PyFrame_GetCode", PYTHON_VERSION(3, 9) },
		{ "PyCode_NewWithPosOnlyArgs", PYTHON_VERSION(3, 8) },
	};
	uint64_t vaddr, offset;
	uint32_t hex;

	if (find(f, "Py_Version", &vaddr))
		return elf_file_offset(f, vaddr, &offset) &&
				       elf_file_read(f, offset, &hex, sizeof(hex)) == sizeof(hex)
			       ? hex >> 16
			       : 0;
	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++)
		if (find(f, firsts[i].function, &vaddr))
			return firsts[i].version;
	return 0;
}

/* Where a jump of the instruction at bytes leads, 0 = it is none; x86-64: with 4 bytes to go by. */
static uint64_t x86_jump(const uint8_t *bytes, size_t left, uint64_t at)
{
	int32_t by;

	if (left >= 6 && bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80) {
		memcpy(&by, bytes + 2, sizeof(by));
		return at + 6 + by;
	}
	if (left >= 5 && bytes[0] == 0xe9) {
		memcpy(&by, bytes + 1, sizeof(by));
		return at + 5 + by;
	}
	return 0;
}

/* The lowest bits of value from a bit on, as a number with a sign. */
static int64_t signed_field(uint32_t value, unsigned int from, unsigned int bits)
{
	return (int64_t)((uint64_t)value << (64 - from - bits)) >> (64 - bits);
}

static uint64_t arm64_jump(const uint8_t *bytes, size_t left, uint64_t at)
{
	uint32_t insn;

	if (at & 3 || left < sizeof(insn))
		return 0;
	memcpy(&insn, bytes, sizeof(insn));
	if ((insn & 0xfc000000) == 0x14000000) /* b */
		return at + signed_field(insn, 0, 26) * 4;
	if ((insn & 0xff000010) == 0x54000000 || (insn & 0x7e000000) == 0x34000000) /* b.c, cbz */
		return at + signed_field(insn, 5, 19) * 4;
	if ((insn & 0x7e000000) == 0x36000000) /* tbz */
		return at + signed_field(insn, 5, 14) * 4;
	return 0;
}

struct rows {
	struct eh_header_row *rows;
	uint32_t *votes;
	size_t nr;
	uint64_t vaddr;
};

static bool rows_read(struct rows *r, const struct elf_file *f)
{
	struct eh_header h;
	size_t sz;

	if (!eh_header_read(&h, f) || !h.nr_rows || h.nr_rows > MAX_ROWS)
		return false;
	sz = h.nr_rows * sizeof(*r->rows);
	*r = (struct rows){ xmalloc(sz), xcalloc(h.nr_rows, sizeof(*r->votes)), h.nr_rows,
			    h.vaddr };
	if (elf_file_read(f, h.rows, r->rows, sz) == sz)
		return true;
	free(r->rows);
	free(r->votes);
	return false;
}

static uint64_t row_start(const struct rows *r, size_t i)
{
	return r->vaddr + r->rows[i].start;
}

/* The last row that starts at or below an address; nr: none. */
static size_t row_at(const struct rows *r, uint64_t vaddr)
{
	size_t low = 0, high = r->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (row_start(r, mid) <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : r->nr;
}

static void vote(struct rows *r, const struct python_range *from, uint64_t to)
{
	size_t i = to && (to < from->start || to >= from->end) ? row_at(r, to) : r->nr;

	if (i < r->nr && row_start(r, i) != to)
		r->votes[i]++;
}

/* Functions that many jumps of the evaluator lead into the middle of. */
static void add_cold(struct python_build *b, const struct elf_file *f, const uint8_t *code)
{
	const struct python_range whole = b->evaluator[0];
	size_t sz = whole.end - whole.start;
	struct rows r;

	if (!rows_read(&r, f))
		return;
	for (size_t i = 0; i < sz; i++)
		vote(&r, &whole,
		     (f->header.e_machine == EM_X86_64 ? x86_jump : arm64_jump)(code + i, sz - i,
										whole.start + i));
	for (size_t i = 0; i + 1 < r.nr && b->nr_ranges < PYTHON_MAX_RANGES; i++)
		if (r.votes[i] >= ENOUGH)
			b->evaluator[b->nr_ranges++] =
				(struct python_range){ row_start(&r, i), row_start(&r, i + 1) };
	free(r.rows);
	free(r.votes);
}

static bool read_evaluator(struct python_build *b, const struct elf_file *f)
{
	uint64_t offset;
	uint8_t *code;
	Elf64_Sym sym;

	if (!gnu_hash_find(f, "_PyEval_EvalFrameDefault", &sym) || !sym.st_size ||
	    sym.st_size > MAX_EVALUATOR || !elf_file_offset(f, sym.st_value, &offset))
		return false;
	b->evaluator[b->nr_ranges++] =
		(struct python_range){ sym.st_value, sym.st_value + sym.st_size };
	code = xmalloc(sym.st_size);
	if (elf_file_read(f, offset, code, sym.st_size) == sym.st_size)
		add_cold(b, f, code);
	free(code);
	return true;
}

int python_build_read(struct python_build *b, const struct elf_file *f)
{
	*b = (struct python_build){ .version = version_of(f) };
	if (!find(f, ELF_PYTHON_RUNTIME, &b->runtime) || !find(f, "PyCode_Type", &b->code_type) ||
	    !read_evaluator(b, f))
		return -ENOENT;
	return b->version >= PYTHON_VERSION(3, 8) && b->version <= PYTHON_VERSION(3, 14) ? 0
											 : -ENOTSUP;
}

#define MRS_X0_TPIDR   0xd53bd040u
#define SUB_X0_X0      0xd1000000u /* immediate: 12 bits from bit 10 on, bit 22: times 4096 */
#define SUB_X0_X0_MASK 0xff8003ffu
#define BTI_C	       0xd503245fu

bool python_self_offset(const struct elf_file *libc, int32_t *offset)
{
	uint32_t code[3], i = 0, imm;
	uint64_t at;
	Elf64_Sym sym;

	*offset = 0;
	if (libc->header.e_machine == EM_X86_64)
		return true; /* its first word is its own address */
	if (!gnu_hash_find(libc, "pthread_self", &sym) ||
	    !elf_file_offset(libc, sym.st_value, &at) ||
	    elf_file_read(libc, at, code, sizeof(code)) != sizeof(code))
		return false;
	i += code[0] == BTI_C;
	if (code[i] != MRS_X0_TPIDR || (code[i + 1] & SUB_X0_X0_MASK) != SUB_X0_X0)
		return false;
	imm = code[i + 1] >> 10 & 0xfff;
	*offset = -(int32_t)(code[i + 1] >> 22 & 1 ? imm << 12 : imm);
	return true;
}
