/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* x86-64: the kernel's questions are asked of the bytes, those about registers of capstone. */
#include <string.h>

#include "uprobe/insn_parts.h"

#define NR(a) (sizeof(a) / sizeof(*(a)))

/* What stands in front of the opcode, and the opcode. */
struct encoding {
	uint8_t nr_prefixes; /* without REX */
	bool has_66, has_bad;
	uint8_t rex;
	uint8_t opcode[2];
};

/* Names of the registers by number, in all widths. */
static const uint16_t registers[16][5] = {
	{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
	{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
	{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
	{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
	{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
	{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
	{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
	{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
	{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
	{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
	{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
	{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
	{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
	{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
	{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
	{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
};

/*
 * Instructions that, when their operands are registers and constants, do nothing but write the
 * first one and the flags. None of them traps.
 */
static const uint16_t writes_first[] = {
	X86_INS_MOV, X86_INS_MOVABS, X86_INS_MOVZX, X86_INS_MOVSX, X86_INS_MOVSXD,
	X86_INS_LEA, X86_INS_XOR,    X86_INS_OR,    X86_INS_AND,   X86_INS_ADD,
	X86_INS_SUB, X86_INS_INC,    X86_INS_DEC,   X86_INS_NEG,   X86_INS_NOT,
	X86_INS_SHL, X86_INS_SAL,    X86_INS_SHR,   X86_INS_SAR,   X86_INS_BSWAP,
};

static bool is_prefix(uint8_t byte)
{
	return memchr("\x66\x67\xf2\xf3\x2e\x36\x3e\x26\x64\x65\xf0", byte, 11);
}

/* Segments that mean nothing in 64-bit code, and lock. */
static bool is_bad_prefix(uint8_t byte)
{
	return memchr("\x2e\x36\x3e\x26\xf0", byte, 5);
}

static struct encoding encoding_of(const uint8_t *bytes, size_t len)
{
	struct encoding e = {};
	size_t i = 0;

	for (; i + 1 < len && is_prefix(bytes[i]); i++) {
		e.has_66 |= bytes[i] == 0x66;
		e.has_bad |= is_bad_prefix(bytes[i]);
	}
	e.nr_prefixes = i;
	if (i + 1 < len && bytes[i] >> 4 == 4)
		e.rex = bytes[i++];
	e.opcode[0] = bytes[i];
	e.opcode[1] = i + 1 < len ? bytes[i + 1] : 0;
	return e;
}

static bool is_push(const struct encoding *e, size_t len)
{
	return e->opcode[0] >> 3 == 0x50 >> 3 && (len == 1 || (len == 2 && e->rex == 0x41));
}

static bool is_branch(const struct encoding *e)
{
	uint8_t op = e->opcode[0];

	return op == 0xeb || op == 0xe9 || op == 0xe8 || op >> 4 == 7 ||
	       (op == 0x0f && e->opcode[1] >> 4 == 8);
}

static bool is_bytes(const uint8_t *bytes, size_t len, const char *wanted, size_t nr)
{
	return len == nr && !memcmp(bytes, wanted, nr);
}

/*
 * The ten bytes have a segment prefix, and only kernels that know them as a nop take a probe there.
 */
static enum insn_kind kind_of(const uint8_t *bytes, size_t len, const struct encoding *e)
{
	if (is_bytes(bytes, len, "\x66\x2e\x0f\x1f\x84\0\0\0\0\0", 10))
		return INSN_NOP10;
	if (e->has_bad || e->opcode[0] == 0xcc)
		return INSN_REFUSED;
	if (is_bytes(bytes, len, "\x0f\x1f\x44\0\0", 5))
		return INSN_NOP5;
	if (is_push(e, len))
		return INSN_EMULATED;
	if (is_branch(e))
		return e->has_66 ? INSN_REFUSED : INSN_EMULATED;
	/* With REX.B it is an exchange of r8 and rax, which kernels take for a nop. */
	if (e->opcode[0] == 0x90)
		return e->rex & 1 ? INSN_STEPPED : INSN_EMULATED;
	if (e->opcode[0] == 0x0f && e->opcode[1] == 0x1f)
		return INSN_NOP;
	return INSN_STEPPED;
}

static uint8_t register_number(unsigned int reg)
{
	for (size_t i = 0; reg && i < NR(registers); i++)
		for (size_t j = 0; j < NR(registers[i]); j++)
			if (registers[i][j] == reg)
				return i;
	return INSN_NO_REGISTER;
}

static bool is_general(const cs_x86_op *op)
{
	return op->type == X86_OP_IMM ||
	       (op->type == X86_OP_REG && register_number(op->reg) != INSN_NO_REGISTER);
}

/* What lea has in brackets is not accessed. */
static bool operands_are_general(const cs_insn *decoded)
{
	const cs_x86 *x = &decoded->detail->x86;

	for (size_t i = 0; i < x->op_count; i++)
		if (!is_general(&x->operands[i]) && !(decoded->id == X86_INS_LEA && i == 1))
			return false;
	return x->op_count;
}

static enum insn_effect effect_of(const cs_insn *decoded, uint8_t *written)
{
	const cs_x86 *x = &decoded->detail->x86;

	if (decoded->id == X86_INS_ENDBR64 || decoded->id == X86_INS_NOP)
		return INSN_PAD;
	if (!operands_are_general(decoded))
		return INSN_OTHER;
	if (decoded->id == X86_INS_TEST || decoded->id == X86_INS_CMP)
		return INSN_REGISTERS;
	for (size_t i = 0; i < NR(writes_first); i++) {
		if (decoded->id != writes_first[i] || x->operands[0].type != X86_OP_REG)
			continue;
		*written = register_number(x->operands[0].reg);
		return INSN_REGISTERS;
	}
	return INSN_OTHER;
}

static uint64_t jump_target(const struct insn *insn, const uint8_t *bytes, const struct encoding *e,
			    uint8_t opcode)
{
	int32_t offset;

	if (e->opcode[0] != opcode || insn->len < 5)
		return 0;
	memcpy(&offset, bytes + insn->len - sizeof(offset), sizeof(offset));
	return insn->address + insn->len + offset;
}

static uint64_t condition_target(const struct insn *insn, const uint8_t *bytes,
				 const struct encoding *e)
{
	int32_t offset;

	if (e->opcode[0] >> 4 == 7)
		return insn->address + insn->len + (int8_t)bytes[insn->len - 1];
	if (e->opcode[0] != 0x0f || e->opcode[1] >> 4 != 8 || insn->len < 6)
		return 0;
	memcpy(&offset, bytes + insn->len - sizeof(offset), sizeof(offset));
	return insn->address + insn->len + offset;
}

static bool is_address(const cs_x86_op *op)
{
	return op->type == X86_OP_REG || (op->type == X86_OP_MEM && !op->mem.index);
}

static void classify_jump(struct insn *insn, const cs_insn *decoded, const struct encoding *e)
{
	const cs_x86_op *op = &decoded->detail->x86.operands[0];

	if (e->has_bad) /* notrack: by a table */
		return;
	if (op->type == X86_OP_REG)
		insn->jumps_by = register_number(op->reg);
	insn->jumps_through = op->type == X86_OP_MEM && !op->mem.index;
}

static void classify_write(struct insn *insn, const cs_insn *decoded)
{
	const cs_x86 *x = &decoded->detail->x86;
	bool copies = decoded->id == X86_INS_POP ||
		      (decoded->id == X86_INS_MOV && is_address(&x->operands[1]));

	if (x->op_count && x->operands[0].type == X86_OP_REG && x->operands[0].access & CS_AC_WRITE)
		*(copies ? &insn->copied : &insn->computed) = register_number(x->operands[0].reg);
}

void insn_classify_x86(struct insn *insn, const uint8_t *bytes, const cs_insn *decoded)
{
	struct encoding e = encoding_of(bytes, insn->len);

	insn->kind = kind_of(bytes, insn->len, &e);
	insn->effect = effect_of(decoded, &insn->written);
	insn->is_return = e.opcode[0] == 0xc3 || e.opcode[0] == 0xc2;
	insn->jumps_to = jump_target(insn, bytes, &e, 0xe9);
	if (e.opcode[0] == 0xeb)
		insn->jumps_to = insn->address + insn->len + (int8_t)bytes[insn->len - 1];
	insn->calls_to = jump_target(insn, bytes, &e, 0xe8);
	insn->may_jump_to = condition_target(insn, bytes, &e);
	if (decoded->id == X86_INS_JMP)
		classify_jump(insn, decoded, &e);
	else
		classify_write(insn, decoded);
}
