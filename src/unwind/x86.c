/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lengths come from two tables, a letter for each opcode; VEX and EVEX are regular. Then the few
 * instructions are looked for that change the stack or frame pointer.
 */
#include "unwind/x86.h"

#include <string.h>

/*
 * What follows an opcode:
 *
 *	.  nothing		m  ModRM		M  ModRM, 1 byte	Z  ModRM, 4 bytes
 *	b  1 byte		w  2 bytes		z  4 bytes (2 with 66)	e  3 bytes
 *	v  4 bytes (2; 8 with REX.W)			o  8 bytes
 *	u  ModRM, and 1 byte for /0 and /1		U  the same, as Z
 *	x  no such instruction, or handled before
 */
static const char one_byte[] = "mmmmbzxxmmmmbzxx"
			       "mmmmbzxxmmmmbzxx"
			       "mmmmbzxxmmmmbzxx"
			       "mmmmbzxxmmmmbzxx"
			       "xxxxxxxxxxxxxxxx"
			       "................"
			       "xxxmxxxxzZbM...."
			       "bbbbbbbbbbbbbbbb"
			       "MZxMmmmmmmmmmmmm"
			       "..........x....."
			       "oooo....bz......"
			       "bbbbbbbbvvvvvvvv"
			       "MMw.xxMZe.w..bx."
			       "mmmmxxx.mmmmmmmm"
			       "bbbbbbbbzzxb...."
			       "x.xx..uU......mm";
static const char two_bytes[] = "mmmmx.....x.xm.M"
				"mmmmmmmmmmmmmmmm"
				"mmmmxxxxmmmmmmmm"
				"........xxxxxxxx"
				"mmmmmmmmmmmmmmmm"
				"mmmmmmmmmmmmmmmm"
				"mmmmmmmmmmmmmmmm"
				"MMMMmmm.mmxxmmmm"
				"zzzzzzzzzzzzzzzz"
				"mmmmmmmmmmmmmmmm"
				"...mMmxx...mMmmm"
				"mmmmmmmmmmMmmmmm"
				"mmMmMMMm........"
				"mmmmmmmmmmmmmmmm"
				"mmmmmmmmmmmmmmmm"
				"mmmmmmmmmmmmmmmm";

/* Those that write their register operand, or with two registers the other one. */
static const uint8_t writes_reg[] = { 0x03, 0x0b, 0x13, 0x1b, 0x23, 0x2b, 0x33,
				      0x63, 0x69, 0x6b, 0x87, 0x8b, 0x8d };
static const uint8_t writes_rm[] = { 0x01, 0x09, 0x11, 0x19, 0x21, 0x29, 0x31,
				     0x87, 0x89, 0xc1, 0xc7, 0xd1, 0xd3 };
static const uint8_t writes_reg_2[] = { 0xaf, 0xb6, 0xb7, 0xb8, 0xbc, 0xbd, 0xbe, 0xbf };

struct parts {
	const uint8_t *code;
	size_t sz, at;
	uint8_t rex, opcode, map; /* map 0: one byte; 1: behind 0f; more: behind 0f 38, 0f 3a */
	bool is_16, is_vector, has_modrm;
	uint8_t mod, reg, rm; /* numbers of registers with the bits of REX */
	bool by_sp, by_fp;    /* in memory at SP + disp, FP + disp */
	int32_t disp;
	size_t immediate; /* where it is */
};

static bool is_in(const uint8_t *set, size_t nr, uint8_t opcode)
{
	return memchr(set, opcode, nr);
}

static bool more(struct parts *p, uint8_t *byte)
{
	if (p->at >= p->sz)
		return false;
	*byte = p->code[p->at++];
	return true;
}

static int32_t number(const struct parts *p, size_t at, size_t sz)
{
	int32_t value = 0;

	if (sz == 1)
		return (int8_t)p->code[at];
	memcpy(&value, p->code + at, sizeof(value));
	return value;
}

static bool read_prefixes(struct parts *p, uint8_t *byte)
{
	do {
		if (!more(p, byte))
			return false;
		p->is_16 |= *byte == 0x66;
	} while (memchr("\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65", *byte, 11));
	if ((*byte & 0xf0) == 0x40) {
		p->rex = *byte;
		return more(p, byte);
	}
	return true;
}

/* AMD's vectors share their first byte with pop, but not what follows it. */
static bool is_xop(const struct parts *p, uint8_t byte)
{
	return byte == 0x8f && p->at < p->sz && (p->code[p->at] & 0x1f) >= 8;
}

/* Of instructions with VEX or EVEX only the length matters: none writes these registers. */
static bool read_vector(struct parts *p, uint8_t byte)
{
	uint8_t payload = 0;
	size_t rest = byte == 0x62 ? 2 : byte != 0xc5;

	p->is_vector = true;
	if (!more(p, &payload))
		return false;
	p->map = byte == 0xc5 ? 1 : payload & (byte == 0x62 ? 7 : 0x1f);
	p->at += rest;
	return more(p, &p->opcode);
}

static bool read_opcode(struct parts *p)
{
	uint8_t byte;

	if (!read_prefixes(p, &byte))
		return false;
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62 || is_xop(p, byte))
		return read_vector(p, byte);
	p->opcode = byte;
	if (byte != 0x0f)
		return true;
	p->map = 1;
	if (!more(p, &p->opcode))
		return false;
	if (p->opcode != 0x38 && p->opcode != 0x3a)
		return true;
	p->map = p->opcode == 0x38 ? 2 : 3;
	return more(p, &p->opcode);
}

static char kind_of(const struct parts *p)
{
	if (p->map > 3) /* 8 to 10: XOP */
		return p->map == 8 ? 'M' : p->map == 10 ? 'Z' : 'm';
	if (p->map > 1)
		return p->map == 3 ? 'M' : 'm';
	return p->map ? two_bytes[p->opcode] : one_byte[p->opcode];
}

static bool read_modrm(struct parts *p)
{
	uint8_t byte, sib, base;
	size_t sz;

	if (!more(p, &byte))
		return false;
	p->has_modrm = true;
	p->mod = byte >> 6;
	p->reg = (byte >> 3 & 7) | (p->rex & 4) << 1;
	base = byte & 7;
	p->rm = base | (p->rex & 1) << 3;
	if (p->mod == 3)
		return true;
	sz = p->mod == 1 ? 1 : p->mod == 2 || base == 5 ? 4 : 0;
	if (base == 4) {
		if (!more(p, &sib))
			return false;
		/* Without an index. */
		p->by_sp = sib == 0x24 && !(p->rex & 3);
		if (!p->mod && (sib & 7) == 5)
			sz = 4;
	}
	p->by_fp = p->mod && p->rm == X86_FP;
	if (p->at + sz > p->sz)
		return false;
	p->disp = sz ? number(p, p->at, sz) : 0;
	p->at += sz;
	return true;
}

static size_t immediate_size(const struct parts *p, char kind)
{
	size_t z = p->is_16 ? 2 : 4;

	/* Jumps have four bytes in any case. */
	if (kind == 'z' && (p->map || p->opcode == 0xe8 || p->opcode == 0xe9))
		z = 4;
	switch (kind) {
	case 'M':
	case 'b':
		return 1;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'Z':
	case 'z':
		return z;
	case 'v':
		return p->rex & 8 ? 8 : z;
	case 'o':
		return 8;
	case 'u':
		return (p->reg & 7) < 2 ? 1 : 0;
	case 'U':
		return (p->reg & 7) < 2 ? z : 0;
	}
	return 0;
}

static bool read_parts(struct parts *p)
{
	char kind;

	if (!read_opcode(p))
		return false;
	kind = kind_of(p);
	if (kind == 'x')
		return false;
	if (strchr("mMZuU", kind) && !read_modrm(p))
		return false;
	p->immediate = p->at;
	p->at += immediate_size(p, kind);
	return p->at <= p->sz && p->at <= X86_MAX_INSN;
}

/* --- what it does --- */

static void set(struct x86_insn *insn, enum x86_effect effect, uint8_t reg, int32_t off)
{
	insn->effect = effect;
	insn->reg = reg;
	insn->off = off;
}

static void set_written(struct x86_insn *insn, uint8_t reg)
{
	if (reg == X86_SP)
		set(insn, X86_SP_OTHER, reg, 0);
	else if (reg == X86_FP)
		set(insn, X86_FP_OTHER, reg, 0);
}

static void flow_of(const struct parts *p, struct x86_insn *insn)
{
	uint8_t op = p->opcode;
	bool is_near = p->map == 1 && (op & 0xf0) == 0x80;
	bool is_short = !p->map && ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0);

	if (is_near || is_short)
		insn->flow = X86_BRANCHES;
	else if (!p->map && (op == 0xe9 || op == 0xeb))
		insn->flow = X86_JUMPS;
	else if (!p->map && op == 0xff && (p->reg & 6) == 4)
		insn->flow = X86_JUMPS_BY_POINTER;
	else if ((!p->map && op == 0xe8) || (!p->map && op == 0xff && (p->reg & 6) == 2))
		insn->flow = X86_CALLS;
	else if (!p->map && (op == 0xc2 || op == 0xc3))
		insn->flow = X86_RETURNS;
	else if ((!p->map && memchr("\xca\xcb\xcf\xcc\xf4", op, 5)) || (p->map == 1 && op == 0x0b))
		insn->flow = X86_ENDS;
	if (insn->flow == X86_BRANCHES || insn->flow == X86_JUMPS || (!p->map && op == 0xe8))
		insn->target = number(p, p->immediate, p->at - p->immediate);
}

static bool pushes_or_pops(const struct parts *p, struct x86_insn *insn)
{
	uint8_t op = p->opcode, reg = (op & 7) | (p->rex & 1) << 3;

	if (p->map == 1 && (op & 0xf6) == 0xa0)
		set(insn, op & 1 ? X86_POP : X86_PUSH, X86_NO_REG, 0);
	else if (p->map)
		return false;
	else if ((op & 0xf0) == 0x50)
		set(insn, op & 8 ? X86_POP : X86_PUSH, reg, 0);
	else if (op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && (p->reg & 7) == 6))
		set(insn, X86_PUSH, X86_NO_REG, 0);
	else if (op == 0x9d || op == 0x8f)
		set(insn, X86_POP, X86_NO_REG, 0);
	else
		return false;
	if (p->is_16)
		set(insn, X86_SP_OTHER, X86_SP, 0);
	return true;
}

/* mov and lea between the two, and of the frame pointer from and to the stack. */
static bool moves(const struct parts *p, struct x86_insn *insn)
{
	bool wide = p->rex & 8, from_reg = p->opcode == 0x89;
	uint8_t to = from_reg ? p->rm : p->reg, from = from_reg ? p->reg : p->rm;

	if (p->map || !wide)
		return false;
	if (p->opcode == 0x8d && p->reg == X86_SP && (p->by_sp || p->by_fp))
		set(insn, p->by_sp ? X86_SP_ADD : X86_SP_FROM_FP, X86_SP, p->disp);
	else if (p->opcode == 0x8d && p->reg == X86_FP && p->by_sp)
		set(insn, X86_FP_FROM_SP, X86_FP, p->disp);
	else if (p->opcode != 0x89 && p->opcode != 0x8b)
		return false;
	else if (p->mod == 3 && to == X86_SP && from == X86_FP)
		set(insn, X86_SP_FROM_FP, X86_SP, 0);
	else if (p->mod == 3 && to == X86_FP && from == X86_SP)
		set(insn, X86_FP_FROM_SP, X86_FP, 0);
	else if (p->mod != 3 && p->by_sp && p->reg == X86_FP)
		set(insn, from_reg ? X86_FP_STORE : X86_FP_LOAD, X86_FP, p->disp);
	else
		return false;
	return true;
}

/* add, sub and their likes of a constant. */
static bool adds(const struct parts *p, struct x86_insn *insn)
{
	int32_t value;

	if (p->map || (p->opcode != 0x83 && p->opcode != 0x81) || p->mod != 3)
		return false;
	value = number(p, p->immediate, p->opcode == 0x83 ? 1 : 4);
	if ((p->reg & 7) == 7) /* cmp */
		return true;
	if (p->rm == X86_SP && p->rex & 8 && (p->reg & 7) == 0)
		set(insn, X86_SP_ADD, X86_SP, value);
	else if (p->rm == X86_SP && p->rex & 8 && (p->reg & 7) == 5 && value != INT32_MIN)
		set(insn, X86_SP_ADD, X86_SP, -value);
	else
		set_written(insn, p->rm);
	return true;
}

static void writes(const struct parts *p, struct x86_insn *insn)
{
	uint8_t op = p->opcode;

	if (p->map == 1) {
		if ((op & 0xf0) == 0x40 || is_in(writes_reg_2, sizeof(writes_reg_2), op))
			set_written(insn, p->reg);
		return;
	}
	if (p->map)
		return;
	if (p->mod == 3 && (op == 0x31 || op == 0x33) && p->reg == X86_FP && p->rm == X86_FP) {
		set(insn, X86_FP_ZERO, X86_FP, 0);
		return;
	}
	if ((op & 0xf8) == 0xb8 || (op & 0xf8) == 0x90)
		set_written(insn, (op & 7) | (p->rex & 1) << 3);
	if (is_in(writes_reg, sizeof(writes_reg), op))
		set_written(insn, p->reg);
	if (p->has_modrm && p->mod == 3 &&
	    (is_in(writes_rm, sizeof(writes_rm), op) || (op == 0xff && (p->reg & 7) < 2) ||
	     (op == 0xf7 && (p->reg & 6) == 2)))
		set_written(insn, p->rm);
}

bool x86_decode(const uint8_t *code, size_t sz, struct x86_insn *insn)
{
	struct parts p = { .code = code, .sz = sz };

	*insn = (struct x86_insn){ .reg = X86_NO_REG };
	if (!read_parts(&p))
		return false;
	insn->len = p.at;
	if (p.is_vector)
		return true;
	flow_of(&p, insn);
	if (pushes_or_pops(&p, insn) || moves(&p, insn) || adds(&p, insn))
		return true;
	if (!p.map && p.opcode == 0xc9)
		insn->effect = X86_LEAVE;
	else if (!p.map && p.opcode == 0xc8)
		set(insn, X86_SP_OTHER, X86_SP, 0);
	else
		writes(&p, insn);
	return true;
}

size_t x86_padding(const uint8_t *code, size_t sz)
{
	struct parts p = { .code = code, .sz = sz };

	if (sz && *code == 0xcc)
		return 1;
	if (!read_parts(&p) || p.is_vector)
		return 0;
	return (!p.map && p.opcode == 0x90) || (p.map == 1 && p.opcode == 0x1f) ? p.at : 0;
}
