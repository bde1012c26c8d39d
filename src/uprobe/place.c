/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks from the entry to the first cheap instruction, and asks who else may come there. */
#include "uprobe/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/fdes.h"
#include "uprobe/entries.h"
#include "uprobe/image.h"
#include "uprobe/insn.h"
#include "uprobe/place_parts.h"

#define MAX_SKIPPED 3

/*
 * Registers that may hold an argument. x86-64: rax is the number of vector arguments, r10 the
 * static chain; rcx, rdx, rsi, rdi, r8, r9. aarch64: x0 to x7, and x8, where a result goes.
 */
#define X86_ARGUMENTS	0x07c7u
#define ARM64_ARGUMENTS 0x01ffu

static bool is_x86(const struct places *p)
{
	return functions_file(p->functions)->header.e_machine == EM_X86_64;
}

struct places *places_open(const struct functions *fs)
{
	const struct elf_file *f = functions_file(fs);
	struct decoder *decoder = decoder_new(f->header.e_machine);
	struct places *p;

	if (!decoder) {
		errno = ENOTSUP;
		return NULL;
	}
	p = xcalloc(1, sizeof(*p));
	p->functions = fs;
	p->decoder = decoder;
	p->complete = image_load(&p->image, f) && entries_mark(&p->image, f);
	fdes_load(&p->fdes, f);
	p->stubs = stubs_new(fs);
	return p;
}

void places_free(struct places *p)
{
	if (!p)
		return;
	decoder_free(p->decoder);
	image_release(&p->image);
	fdes_release(&p->fdes);
	stubs_free(p->stubs);
	free(p);
}

bool place_decode(struct places *p, const struct uprobe_function *f, uint64_t address,
		  struct insn *insn)
{
	size_t sz;
	const uint8_t *bytes = image_code(&p->image, address, &sz);
	uint64_t left = f->size - (address - f->address);

	return bytes && address - f->address < f->size &&
	       decoder_next(p->decoder, bytes, sz < left ? sz : left, address, insn);
}

/* Where nobody uses the red zone: see place_at(). */
static enum place_price price_of(const struct insn *insn, unsigned int flags)
{
	bool long_nops = flags & PLACE_KERNEL_NOPS;

	switch (insn->kind) {
	case INSN_EMULATED:
		return PLACE_EMULATED;
	case INSN_NOP5:
		if (flags & PLACE_KERNEL_NOP5)
			return PLACE_OPTIMISED;
		return long_nops ? PLACE_EMULATED : PLACE_STEPPED;
	case INSN_NOP10:
		return flags & PLACE_KERNEL_NOP10 ? PLACE_OPTIMISED : PLACE_REFUSED;
	case INSN_NOP:
		return long_nops ? PLACE_EMULATED : PLACE_STEPPED;
	case INSN_REFUSED:
		return PLACE_REFUSED;
	case INSN_STEPPED:
		break;
	}
	return PLACE_STEPPED;
}

static bool is_cheap(enum place_price price)
{
	return price == PLACE_EMULATED || price == PLACE_OPTIMISED;
}

/*
 * Why an instruction cannot be skipped, NULL when it can. Go passes arguments in registers of its
 * own, and has others that the probe's reader wants.
 */
static const char *obstacle(const struct places *p, const struct insn *insn, unsigned int flags)
{
	uint32_t arguments = is_x86(p) ? X86_ARGUMENTS : ARM64_ARGUMENTS;
	uint32_t kept = is_x86(p) ? 1u << INSN_X86_SP : 1u << INSN_ARM64_SP | 1u << INSN_ARM64_LR;

	if (insn->effect == INSN_OTHER)
		return "more than registers is used before a cheap instruction comes";
	if (insn->effect == INSN_SIGNS && (flags & PLACE_RETURN))
		return "the return address is signed before a cheap instruction comes";
	if (insn->written == INSN_NO_REGISTER)
		return NULL;
	if (functions_are_go(p->functions) || (arguments >> insn->written & 1))
		return "arguments change before a cheap instruction comes";
	if ((flags & PLACE_RETURN) && (kept >> insn->written & 1))
		return "the return address moves before a cheap instruction comes";
	return NULL;
}

/* A function of its own in the unwind tables, which stripped files have, too. */
static bool has_unwind_entry(const struct places *p, uint64_t from, uint64_t to)
{
	uint64_t start;

	for (uint64_t a = from + 1; a <= to; a++) {
		start = fdes_find(&p->fdes, a, NULL);
		if (start > from && start <= to)
			return true;
	}
	return false;
}

/* Who may enter the function in (E, P]; NULL for nobody. */
static const char *intruder(struct places *p, const struct uprobe_function *f, uint64_t to)
{
	uint64_t from = f->address;

	if (!p->complete)
		return "the file is too large to see who jumps behind the entry";
	if (functions_have_label(p->functions, from, to) || has_unwind_entry(p, from, to))
		return "another function begins behind the entry";
	if (image_is_marked(&p->image, from, to))
		return "a jump may lead behind the entry";
	if (is_x86(p) ? place_has_short_jump(p, from, to)
		      : entries_may_hide(&p->image, f->address, f->size))
		return "a jump may lead behind the entry";
	return NULL;
}

static void set_place(struct places *p, const struct uprobe_function *f, const struct insn *insn,
		      enum place_price price, struct place *out)
{
	size_t sz;
	const uint8_t *bytes = image_code(&p->image, insn->address, &sz);

	out->address = insn->address;
	out->offset = f->offset + (insn->address - f->address);
	out->price = price;
	decoder_text(p->decoder, bytes, sz, insn->address, out->insn, sizeof(out->insn));
}

/*
 * An instruction that may be probed instead of the entry. The call that kernels make of a 5-byte
 * nop writes below the stack pointer: nothing is there as long as only landing pads were executed.
 */
static bool is_better(const struct insn *insn, bool pads_only, unsigned int flags)
{
	if (insn->kind == INSN_NOP5 && (flags & PLACE_KERNEL_NOP5) && !pads_only)
		return false;
	return is_cheap(price_of(insn, flags));
}

/*
 * The instruction to probe rather than the entry, and how many are skipped for it. NULL, or why
 * there is none.
 */
static const char *look_ahead(struct places *p, const struct uprobe_function *f, unsigned int flags,
			      struct insn *insn, unsigned int *skipped)
{
	bool pads_only = true;
	const char *why;

	for (*skipped = 1; *skipped <= MAX_SKIPPED; (*skipped)++) {
		why = obstacle(p, insn, flags);
		if (why)
			return why;
		pads_only &= insn->effect == INSN_PAD;
		if (!place_decode(p, f, insn->address + insn->len, insn))
			return "the function is short, or not decoded behind its entry";
		if (is_better(insn, pads_only, flags))
			return intruder(p, f, insn->address);
	}
	return "no cheap instruction is near the entry";
}

/* A call of Go may pass its entry several times: rather where it is seen once, at any price. */
static bool choose_behind_check(struct places *p, const struct uprobe_function *f,
				unsigned int flags, struct place *out)
{
	unsigned int skipped;
	uint64_t at = place_behind_check(p, f, &skipped);
	enum place_price price;
	struct insn insn;

	if (!at || !place_decode(p, f, at, &insn) || intruder(p, f, at))
		return false;
	price = price_of(&insn, flags);
	if (price == PLACE_REFUSED || (price == PLACE_OPTIMISED && insn.kind == INSN_NOP5))
		return false;
	set_place(p, f, &insn, price, out);
	out->skipped = skipped;
	out->why = "behind the check of the stack, which a call may pass more than once";
	return true;
}

int place_choose(struct places *p, const struct uprobe_function *f, unsigned int flags,
		 struct place *out)
{
	struct insn entry, insn;
	enum place_price price;
	unsigned int skipped;

	*out = (struct place){};
	if (!place_decode(p, f, f->address, &entry))
		return -ENOEXEC;
	if (choose_behind_check(p, f, flags, out))
		return 0;
	price = price_of(&entry, flags);
	set_place(p, f, &entry, price, out);
	if (is_cheap(price)) {
		out->why = "the entry is cheap";
		return 0;
	}
	insn = entry;
	out->why = look_ahead(p, f, flags, &insn, &skipped);
	if (out->why)
		return 0;
	set_place(p, f, &insn, price_of(&insn, flags), out);
	out->skipped = skipped;
	out->why = "cheaper than the entry, and nobody can tell";
	return 0;
}

int place_at(struct places *p, const struct uprobe_function *f, uint64_t address,
	     unsigned int flags, struct place *out)
{
	struct insn insn;

	*out = (struct place){};
	if (!place_is_instruction(p, f, address) || !place_decode(p, f, address, &insn))
		return -EINVAL;
	set_place(p, f, &insn, price_of(&insn, flags), out);
	out->why = "this address was asked for";
	if (insn.kind == INSN_NOP5 && (flags & PLACE_KERNEL_NOP5) && address != f->address) {
		out->price = PLACE_REFUSED;
		out->why = "this kernel's probe on a 5-byte nop would write over local variables";
	}
	return 0;
}

bool place_is_instruction(struct places *p, const struct uprobe_function *f, uint64_t address)
{
	uint64_t at = f->address;
	struct insn insn;

	if (address < at || address - at >= f->size)
		return false;
	while (at < address && place_decode(p, f, at, &insn))
		at += insn.len;
	return at == address && place_decode(p, f, at, &insn);
}

int place_returns(struct places *p, const struct uprobe_function *f, uint64_t **offsets, size_t *nr)
{
	struct insn insn;
	size_t cap = 0;

	*offsets = NULL;
	*nr = 0;
	for (uint64_t at = f->address; at - f->address < f->size; at += insn.len) {
		if (!place_decode(p, f, at, &insn)) {
			free(*offsets);
			*offsets = NULL;
			*nr = 0;
			return -EILSEQ;
		}
		if (!insn.is_return)
			continue;
		*offsets = xgrow(*offsets, *nr, &cap, sizeof(**offsets));
		(*offsets)[(*nr)++] = f->offset + (at - f->address);
	}
	return 0;
}
