/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The instructions of call frame information (DW_CFA_...). Those that move on to the next address
 * end a row; the others change the state. Instructions on other registers are read and dropped.
 */
#include "unwind/program.h"

#define OP_ADVANCE 1 /* in the upper two bits */
#define OP_OFFSET  2
#define OP_RESTORE 3

#define CFA_NOP		       0x00
#define CFA_SET_LOC	       0x01
#define CFA_ADVANCE_LOC1       0x02
#define CFA_ADVANCE_LOC4       0x04
#define CFA_REMEMBER_STATE     0x0a
#define CFA_RESTORE_STATE      0x0b
#define CFA_DEF_CFA	       0x0c
#define CFA_DEF_CFA_REGISTER   0x0d
#define CFA_DEF_CFA_OFFSET     0x0e
#define CFA_DEF_CFA_EXPRESSION 0x0f
#define CFA_DEF_CFA_SF	       0x12
#define CFA_DEF_CFA_OFFSET_SF  0x13
#define CFA_NEGATE_RA_WITH_PC  0x2c
#define CFA_NEGATE_RA	       0x2d /* on SPARC another instruction, also without operands */
#define CFA_ARGS_SIZE	       0x2e

#define OP_DEREF       0x06
#define OP_PLUS_UCONST 0x23
#define OP_BREG0       0x70
#define OP_BREG31      0x8f
#define OP_BREGX       0x92

/* The instructions that say where a register is: operands after its number, and what it is then. */
enum operand {
	NO_INSTRUCTION = 0,
	NOTHING,
	UNSIGNED, /* times data_align */
	SIGNED,
	NEGATED,
	REGISTER,
	PLACE,	    /* an expression that computes where it is saved */
	EXPRESSION, /* one that computes its value */
	AS_BEFORE,  /* what the CIE says */
};
static const struct {
	uint8_t operand, kind;
} register_ops[0x40] = {
	[0x05] = { UNSIGNED, CFI_AT_CFA },   [0x06] = { AS_BEFORE, CFI_SAME },
	[0x07] = { NOTHING, CFI_UNDEFINED }, [0x08] = { NOTHING, CFI_SAME },
	[0x09] = { REGISTER, CFI_IN_REG },   [0x10] = { PLACE, CFI_REG },
	[0x11] = { SIGNED, CFI_AT_CFA },     [0x14] = { UNSIGNED, CFI_IS_CFA },
	[0x15] = { SIGNED, CFI_IS_CFA },     [0x16] = { EXPRESSION, CFI_UNSUPPORTED },
	[0x2f] = { NEGATED, CFI_AT_CFA },
};

static const struct cfi_value unsupported = { .kind = CFI_UNSUPPORTED };

static struct cfi_value *value_of(struct cfi_state *s, const struct program *p, uint64_t reg)
{
	if (reg == cfi_fp(p->cfi->arch))
		return &s->fp;
	return reg == p->cie->ra_reg ? &s->ra : NULL;
}

static bool fits_reg(uint64_t reg)
{
	return reg <= UINT8_MAX;
}

/* An offset in units of the CIE; one that we cannot hold makes the value unsupported. */
static struct cfi_value factored(const struct program *p, uint8_t kind, int64_t n)
{
	struct cfi_value v = { .kind = kind };
	int64_t off;

	if (__builtin_mul_overflow(n, p->cie->data_align, &off) || off != (int32_t)off)
		return unsupported;
	v.off = (int32_t)off;
	return v;
}

/* SP + 8, plus 8 from some byte of a stub on: what linkers write for their stubs, to the byte. */
static bool is_plt(const struct cursor *code, struct cfi_value *v)
{
	const uint8_t *b = code->at;

	/* breg7 8, breg16 0, lit15, and, litN, ge, lit3, shl, plus */
	if (code->end - b != 11 || b[0] != 0x77 || b[1] != 8 || b[2] != 0x80 || b[3] != 0 ||
	    b[4] != 0x3f || b[5] != 0x1a || b[6] < 0x30 || b[6] > 0x3f || b[7] != 0x2a ||
	    b[8] != 0x33 || b[9] != 0x24 || b[10] != 0x22)
		return false;
	*v = (struct cfi_value){ .kind = CFI_PLT, .off = b[6] - 0x30 };
	return true;
}

static uint64_t plus(struct cursor *code)
{
	uint64_t sum = 0;

	while (code->at < code->end && *code->at == OP_PLUS_UCONST) {
		code->at++;
		sum += cursor_uleb(code);
	}
	return sum;
}

/* reg + off, or *(reg + off) + off2. */
static struct cfi_value expression(struct cursor code)
{
	struct cfi_value v = { .kind = CFI_REG };
	uint8_t op = cursor_u8(&code);
	int64_t off, off2 = 0;
	uint64_t reg;

	if (op == OP_BREGX)
		reg = cursor_uleb(&code);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		reg = op - OP_BREG0;
	else
		return unsupported;
	off = (int64_t)((uint64_t)cursor_sleb(&code) + plus(&code));
	if (code.at < code.end && *code.at == OP_DEREF) {
		code.at++;
		v.kind = CFI_DEREF;
		off2 = (int64_t)plus(&code);
	}
	v.reg = (uint8_t)reg;
	v.off = (int32_t)off;
	v.off2 = (int16_t)off2;
	if (code.bad || code.at < code.end || !fits_reg(reg) || v.off != off || v.off2 != off2)
		return unsupported;
	return v;
}

static struct cfi_value register_value(struct program *p, uint8_t op)
{
	uint8_t kind = register_ops[op].kind;
	struct cfi_value v = { .kind = kind };
	uint64_t n;

	switch (register_ops[op].operand) {
	case UNSIGNED:
		return factored(p, kind, (int64_t)cursor_uleb(&p->code));
	case SIGNED:
		return factored(p, kind, cursor_sleb(&p->code));
	case NEGATED:
		return factored(p, kind, (int64_t)-cursor_uleb(&p->code));
	case REGISTER:
		n = cursor_uleb(&p->code);
		v.reg = (uint8_t)n;
		return fits_reg(n) ? v : unsupported;
	case PLACE:
		n = cursor_uleb(&p->code);
		return expression(cursor_take(&p->code, n));
	case EXPRESSION:
		n = cursor_uleb(&p->code);
		cursor_take(&p->code, n);
		return unsupported;
	}
	return v;
}

static bool register_op(struct program *p, uint8_t op)
{
	uint8_t operand = register_ops[op].operand;
	struct cfi_value *to, value;
	uint64_t reg;

	if (operand == NO_INSTRUCTION)
		return false;
	reg = cursor_uleb(&p->code);
	value = register_value(p, op);
	to = value_of(&p->state, p, reg);
	if (to)
		*to = operand == AS_BEFORE ? *value_of((struct cfi_state *)&p->cie->initial, p, reg)
					   : value;
	return true;
}

/* Changes the offset, or with no reg the register, of a CFA that has such. */
static void set_cfa(struct program *p, uint64_t reg, int64_t off)
{
	struct cfi_value *cfa = &p->state.cfa;

	if (!fits_reg(reg) || off != (int32_t)off)
		*cfa = unsupported;
	else
		*cfa = (struct cfi_value){ .kind = CFI_REG, .reg = reg, .off = off };
}

static void set_cfa_expression(struct program *p)
{
	uint64_t sz = cursor_uleb(&p->code);
	struct cursor code = cursor_take(&p->code, sz);

	if (p->cfi->arch != TABLE_X86 || !is_plt(&code, &p->state.cfa))
		p->state.cfa = expression(code);
}

static int64_t cfa_offset(struct program *p, bool is_factored)
{
	int64_t off;

	if (!is_factored) {
		off = (int64_t)cursor_uleb(&p->code);
		return off;
	}
	if (__builtin_mul_overflow(cursor_sleb(&p->code), p->cie->data_align, &off))
		return INT64_MAX;
	return off;
}

static void cfa_op(struct program *p, uint8_t op)
{
	const struct cfi_value old = p->state.cfa;
	uint64_t reg = old.reg;
	int64_t off = old.off;

	if (op == CFA_DEF_CFA || op == CFA_DEF_CFA_SF || op == CFA_DEF_CFA_REGISTER)
		reg = cursor_uleb(&p->code);
	if (op != CFA_DEF_CFA_REGISTER)
		off = cfa_offset(p, op == CFA_DEF_CFA_SF || op == CFA_DEF_CFA_OFFSET_SF);
	/* Only half of a CFA is given: the other must be there. */
	if (op != CFA_DEF_CFA && op != CFA_DEF_CFA_SF && old.kind != CFI_REG)
		p->state.cfa = unsupported;
	else
		set_cfa(p, reg, off);
}

static bool remember(struct program *p)
{
	if (p->nr_remembered == PROGRAM_MAX_REMEMBERED)
		return false;
	p->remembered[p->nr_remembered++] = p->state;
	return true;
}

static bool restore(struct program *p)
{
	if (!p->nr_remembered)
		return false;
	p->state = p->remembered[--p->nr_remembered];
	return true;
}

/* False for what does not change the state, or not in a way that we know. */
static bool other_op(struct program *p, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
	case CFA_NEGATE_RA_WITH_PC: /* signatures are taken off of every return address */
	case CFA_NEGATE_RA:
		return true;
	case CFA_ARGS_SIZE:
		cursor_uleb(&p->code);
		return true;
	case CFA_REMEMBER_STATE:
		return remember(p);
	case CFA_RESTORE_STATE:
		return restore(p);
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
		cfa_op(p, op);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(p);
		return true;
	}
	return register_op(p, op);
}

static void advance(struct program *p, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, p->cie->code_align, &bytes) || bytes > p->end - p->to)
		bytes = p->end - p->to;
	p->to += bytes;
}

static bool set_loc(struct program *p)
{
	uint64_t to;

	if (!cfi_pointer(p->cfi, &p->code, p->cie->encoding, p->start, &to) || to < p->to)
		return false;
	p->to = to < p->end ? to : p->end;
	return true;
}

/* What an instruction has spoiled stays spoiled. */
static bool fail(struct program *p)
{
	p->bad = true;
	p->code.at = p->code.end;
	p->state = (struct cfi_state){ .cfa = unsupported };
	return false;
}

static void offset_op(struct program *p, uint8_t reg)
{
	struct cfi_value value = factored(p, CFI_AT_CFA, (int64_t)cursor_uleb(&p->code));
	struct cfi_value *to = value_of(&p->state, p, reg);

	if (to)
		*to = value;
}

static void restore_op(struct program *p, uint8_t reg)
{
	struct cfi_value *to = value_of(&p->state, p, reg);

	if (to)
		*to = *value_of((struct cfi_state *)&p->cie->initial, p, reg);
}

/* Up to the next instruction that moves on; false when there is none, or one made no sense. */
static bool run(struct program *p)
{
	while (p->code.at < p->code.end) {
		uint8_t op = *p->code.at++, low = op & 0x3f;

		if (op >> 6 == OP_ADVANCE) {
			advance(p, low);
			return true;
		} else if (op >> 6 == OP_OFFSET) {
			offset_op(p, low);
		} else if (op >> 6 == OP_RESTORE) {
			restore_op(p, low);
		} else if (op >= CFA_ADVANCE_LOC1 && op <= CFA_ADVANCE_LOC4) {
			advance(p, cursor_uint(&p->code, 1u << (op - CFA_ADVANCE_LOC1)));
			return true;
		} else if (op == CFA_SET_LOC) {
			return set_loc(p) || fail(p);
		} else if (!other_op(p, op)) {
			return fail(p);
		}
	}
	return p->code.bad && fail(p);
}

void program_start(struct program *p, const struct cfi *cfi, const struct cfi_fde *fde)
{
	p->cfi = cfi;
	p->cie = fde->cie;
	p->code = fde->program;
	p->start = p->from = p->to = fde->start;
	p->end = fde->end;
	p->bad = false;
	p->nr_remembered = 0;
	p->state = fde->cie->initial;
}

bool program_next(struct program *p)
{
	p->from = p->to;
	while (p->from < p->end) {
		if (!run(p))
			p->to = p->end;
		if (p->to > p->from)
			return true;
	}
	return false;
}

bool program_run_cie(const struct cfi *cfi, struct cfi_cie *cie, struct cursor code)
{
	const struct cfi_fde fde = { .end = 1, .cie = cie, .program = code };
	struct program p;

	program_start(&p, cfi, &fde);
	while (run(&p) && !p.to)
		;
	cie->initial = p.state;
	return !p.bad && !p.to;
}
