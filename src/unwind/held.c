/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks for the call in a piece of code, and for the push where the called function begins. */
#include "unwind/held.h"

#include "unwind/x86.h"

#define MAX_PROLOGUE 64	  /* bytes */
#define MAX_DEPTH    4096 /* of what lies above the register in the called function's frame */
#define WORD	     8

/* rbx and r12 to r15, which instructions and DWARF give the same numbers. */
static bool is_preserved(uint8_t reg)
{
	return reg == 3 || (reg >= 12 && reg <= 15);
}

static size_t read_code(struct held *h, uint64_t vaddr, uint8_t *code, size_t sz)
{
	h->nr_bytes += sz;
	return h->nr_bytes <= HELD_MAX_BYTES ? layout_read(h->layout, vaddr, code, sz) : 0;
}

/* What a function does to the stack before its body begins: how much larger its frame is then. */
static bool deepen(int32_t *depth, const struct x86_insn *insn)
{
	if (insn->effect == X86_PUSH)
		*depth += WORD;
	else if (insn->effect == X86_SP_ADD && insn->off < 0 && insn->off > -MAX_DEPTH)
		*depth -= insn->off;
	else if (insn->effect != X86_NOTHING && insn->effect != X86_FP_FROM_SP)
		return false;
	return insn->flow == X86_GOES_ON && *depth <= MAX_DEPTH;
}

static bool find_push(struct held *h, uint64_t function, uint8_t reg, struct held_place *place)
{
	uint8_t code[MAX_PROLOGUE];
	size_t sz = read_code(h, function, code, sizeof(code));
	int32_t depth = WORD; /* of the return address */
	struct x86_insn insn;

	for (size_t at = 0; at < sz && x86_decode(code + at, sz - at, &insn); at += insn.len) {
		if (!deepen(&depth, &insn))
			return false;
		if (insn.effect != X86_PUSH || insn.reg != reg)
			continue;
		place->off = -depth;
		place->push = at;
		return true;
	}
	return false;
}

/* The only call in some code, to a function that the instruction tells; behind it is at *next. */
static bool find_call(const uint8_t *code, size_t sz, size_t *next, int32_t *target)
{
	struct x86_insn insn;

	*target = 0;
	for (size_t at = 0; at < sz; at += insn.len) {
		if (!x86_decode(code + at, sz - at, &insn))
			return false;
		if (insn.flow != X86_CALLS)
			continue;
		if (*target || !insn.target)
			return false;
		*next = at + insn.len;
		*target = insn.target;
	}
	return *target;
}

bool held_find(struct held *h, uint64_t from, uint64_t to, uint8_t reg, struct held_place *place)
{
	uint8_t code[HELD_MAX_ROW];
	size_t next = 0;
	int32_t target;

	if (h->layout->arch != TABLE_X86 || !is_preserved(reg) || to - from > sizeof(code))
		return false;
	if (!find_call(code, read_code(h, from, code, to - from), &next, &target))
		return false;
	place->function = target;
	return find_push(h, from + next + target, reg, place);
}
