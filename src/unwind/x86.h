/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What one instruction of x86-64 does to the stack pointer, to the frame pointer and to what runs
 * next. Nothing else of it is looked at.
 */
#ifndef BPFPROF_UNWIND_X86_H
#define BPFPROF_UNWIND_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_MAX_INSN 15

/* As instructions number them. */
#define X86_SP 4
#define X86_FP 5

enum x86_effect {
	X86_NOTHING = 0,
	X86_PUSH,	/* of reg */
	X86_POP,	/* into reg */
	X86_SP_ADD,	/* SP += off */
	X86_SP_FROM_FP, /* SP = FP + off */
	X86_FP_FROM_SP, /* FP = SP + off */
	X86_LEAVE,
	X86_FP_STORE, /* *(SP + off) = FP */
	X86_FP_LOAD,  /* FP = *(SP + off) */
	X86_FP_ZERO,
	X86_SP_OTHER, /* SP is something else now */
	X86_FP_OTHER,
};

enum x86_flow {
	X86_GOES_ON = 0,
	X86_CALLS,
	X86_BRANCHES, /* perhaps to off bytes behind its end */
	X86_JUMPS,    /* there */
	X86_JUMPS_BY_POINTER,
	X86_RETURNS,
	X86_ENDS, /* goes nowhere */
};

#define X86_NO_REG 0xff

struct x86_insn {
	uint8_t len;
	uint8_t effect, flow; /* enums above */
	uint8_t reg;
	int32_t off;
	int32_t target; /* from the end of the instruction; 0 also where a pointer tells it */
};

/* False where no instruction can be, or it is not whole within sz bytes. */
bool x86_decode(const uint8_t *code, size_t sz, struct x86_insn *insn);

/* The length of what compilers put between functions (nop, int3); 0 = something else. */
size_t x86_padding(const uint8_t *code, size_t sz);

#endif
