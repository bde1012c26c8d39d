/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aarch64: rows of bits, as the architecture's manual has them. */
#include "uprobe/insn_parts.h"

#define NR(a) (sizeof(a) / sizeof(*(a)))

enum destination {
	NONE,
	GENERAL, /* bits 4..0; 31 is the zero register */
	POINTER, /* bits 4..0; 31 is sp */
};

struct row {
	uint32_t mask, value;
	uint8_t kind, effect, destination;
};

/* The first row that fits. Hints are d503201f with a number in bits 11..5. */
#define HINT(n) 0xffffffff, 0xd503201f | (n) << 5
static const struct row rows[] = {
	{ HINT(0), INSN_NOP, INSN_PAD, NONE },
	{ HINT(7), INSN_STEPPED, INSN_OTHER, NONE },		     /* xpaclri */
	{ HINT(8), INSN_STEPPED, INSN_OTHER, NONE },		     /* pacia1716 */
	{ HINT(10), INSN_STEPPED, INSN_OTHER, NONE },		     /* pacib1716 */
	{ HINT(24), INSN_STEPPED, INSN_SIGNS, NONE },		     /* paciaz */
	{ HINT(25), INSN_STEPPED, INSN_SIGNS, NONE },		     /* paciasp */
	{ HINT(26), INSN_STEPPED, INSN_SIGNS, NONE },		     /* pacibz */
	{ HINT(27), INSN_STEPPED, INSN_SIGNS, NONE },		     /* pacibsp */
	{ 0xffffff3f, 0xd503241f, INSN_STEPPED, INSN_PAD, NONE },    /* bti, bti c, j, jc */
	{ 0xfffff01f, 0xd503201f, INSN_REFUSED, INSN_OTHER, NONE },  /* other hints, autiasp */
	{ 0xfc000000, 0x14000000, INSN_EMULATED, INSN_OTHER, NONE }, /* b */
	{ 0xfc000000, 0x94000000, INSN_EMULATED, INSN_OTHER, NONE }, /* bl */
	{ 0xff000010, 0x54000000, INSN_EMULATED, INSN_OTHER, NONE }, /* b.cond */
	{ 0x7e000000, 0x34000000, INSN_EMULATED, INSN_OTHER, NONE }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, INSN_EMULATED, INSN_OTHER, NONE }, /* tbz, tbnz */
	{ 0xfffffc1f, 0xd61f0000, INSN_EMULATED, INSN_OTHER, NONE }, /* br */
	{ 0xfffffc1f, 0xd63f0000, INSN_EMULATED, INSN_OTHER, NONE }, /* blr */
	{ 0xfffffc1f, 0xd65f0000, INSN_EMULATED, INSN_OTHER, NONE }, /* ret */
	{ 0xfe000000, 0xd6000000, INSN_REFUSED, INSN_OTHER, NONE },  /* retaa, braa, eret */
	{ 0xff000000, 0xd4000000, INSN_REFUSED, INSN_OTHER, NONE },  /* svc, brk, hlt */
	{ 0xfff8f01f, 0xd500401f, INSN_REFUSED, INSN_OTHER, NONE },  /* msr of a constant */
	{ 0xfff00000, 0xd5100000, INSN_REFUSED, INSN_OTHER, NONE },  /* msr */
	{ 0x3f000000, 0x08000000, INSN_REFUSED, INSN_OTHER, NONE },  /* exclusive */
	{ 0x1f000000, 0x10000000, INSN_EMULATED, INSN_OTHER, NONE }, /* adr, adrp */
	{ 0xbf000000, 0x18000000, INSN_EMULATED, INSN_OTHER, NONE }, /* ldr w, x of a literal */
	{ 0xff000000, 0x98000000, INSN_EMULATED, INSN_OTHER, NONE }, /* ldrsw of a literal */
	{ 0x3f800000, 0x11000000, INSN_STEPPED, INSN_REGISTERS,
	  POINTER }, /* add, sub of a constant */
	{ 0x3f800000, 0x31000000, INSN_STEPPED, INSN_REGISTERS, GENERAL }, /* adds, subs, cmp */
	{ 0x7f800000, 0x72000000, INSN_STEPPED, INSN_REGISTERS, GENERAL }, /* ands, tst */
	{ 0x1f800000, 0x12000000, INSN_STEPPED, INSN_REGISTERS, POINTER }, /* and, orr, eor */
	{ 0x1f800000, 0x12800000, INSN_STEPPED, INSN_REGISTERS, GENERAL }, /* movn, movz, movk */
	{ 0x1f800000, 0x13000000, INSN_STEPPED, INSN_REGISTERS, GENERAL }, /* bitfields */
	{ 0x7fa00000, 0x13800000, INSN_STEPPED, INSN_REGISTERS, GENERAL }, /* extr */
	{ 0x1f000000, 0x0a000000, INSN_STEPPED, INSN_REGISTERS, GENERAL }, /* and, orr, mov, tst */
	{ 0x1f200000, 0x0b000000, INSN_STEPPED, INSN_REGISTERS, GENERAL }, /* add, sub, shifted */
	{ 0x3fe00000, 0x0b200000, INSN_STEPPED, INSN_REGISTERS, POINTER }, /* add, sub, extended */
	{ 0x3fe00000, 0x2b200000, INSN_STEPPED, INSN_REGISTERS,
	  GENERAL }, /* adds, subs, extended */
	{ 0x1fe00000, 0x1a800000, INSN_STEPPED, INSN_REGISTERS, GENERAL }, /* csel */
};

static uint8_t destination_of(const struct row *r, uint32_t word)
{
	uint8_t number = word & 31;

	if (r->destination == NONE || (r->destination == GENERAL && number == INSN_ARM64_SP))
		return INSN_NO_REGISTER;
	return number;
}

/* Those of 64 bits that a compiler finds the target of a jump by. */
static void classify_jump(struct insn *insn, uint32_t word)
{
	uint8_t to = word & 31;

	if ((word & 0xfffffc1f) == 0xd61f0000) /* br */
		insn->jumps_by = word >> 5 & 31;
	else if ((word & 0xff200000) == 0x8b000000 || (word & 0xffe00000) == 0x8b200000 || /* add */
		 (word & 0xffe00c00) == 0xf8600800) /* ldr, by an index */
		insn->computed = to;
	else if ((word & 0xffc00000) == 0xf9400000 || (word & 0xffe00000) == 0xf8400000 || /* ldr */
		 (word & 0xff000000) == 0x58000000 || (word & 0xffe0ffe0) == 0xaa0003e0)   /* mov */
		insn->copied = to;
}

/* A signed number of words, whose lowest bit is bit 5. */
static uint64_t target_of(const struct insn *insn, uint32_t word, unsigned int bits)
{
	return insn->address + ((int64_t)(int32_t)(word << (27 - bits)) >> (32 - bits)) * 4;
}

static void classify_condition(struct insn *insn, uint32_t word)
{
	if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
		insn->may_jump_to = target_of(insn, word, 19); /* b.cond, cbz, cbnz */
	else if ((word & 0x7e000000) == 0x36000000)
		insn->may_jump_to = target_of(insn, word, 14); /* tbz, tbnz */
}

bool insn_classify_arm64(struct insn *insn, uint32_t word)
{
	/* ret, retaa, retab */
	insn->is_return = (word & 0xfffffc1f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff;
	if ((word & 0x7c000000) == 0x14000000) /* b, bl */
		*(word >> 31 ? &insn->calls_to : &insn->jumps_to) =
			insn->address + ((int64_t)(int32_t)(word << 6) >> 6) * 4;
	classify_jump(insn, word);
	classify_condition(insn, word);
	for (size_t i = 0; i < NR(rows); i++) {
		if ((word & rows[i].mask) != rows[i].value)
			continue;
		insn->kind = rows[i].kind;
		insn->effect = rows[i].effect;
		insn->written = destination_of(&rows[i], word);
		return true;
	}
	return false;
}
