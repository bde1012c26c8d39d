/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One instruction as a probe sees it: what the kernel does with a probe on it, and whether a probe
 * behind it could tell that it was executed. What kernels emulate and refuse is from
 * arch/x86/kernel/uprobes.c and arch/arm64/kernel/probes/decode-insn.c.
 */
#ifndef BPFPROF_UPROBE_INSN_H
#define BPFPROF_UPROBE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_STEPPED,
	INSN_EMULATED, /* by all kernels */
	INSN_NOP,      /* by newer ones: x86-64 more than one byte, aarch64 nop */
	INSN_NOP5,     /* the two that some kernels replace by a call */
	INSN_NOP10,
	INSN_REFUSED, /* -ENOTSUPP */
};

enum insn_effect {
	INSN_OTHER,	/* memory, traps, jumps, whatever is not known */
	INSN_PAD,	/* none: endbr64, bti, nop */
	INSN_SIGNS,	/* signs the return address where it is: paciasp */
	INSN_REGISTERS, /* computes in registers */
};

#define INSN_NO_REGISTER 0xff
#define INSN_X86_SP	 4 /* registers as in usdt.h */
#define INSN_ARM64_LR	 30
#define INSN_ARM64_SP	 31

struct insn {
	uint64_t address;
	uint8_t len;
	enum insn_kind kind;
	enum insn_effect effect;
	uint8_t written; /* the register that INSN_REGISTERS writes besides the flags, if any */
	bool is_return;
	uint64_t jumps_to;    /* of a jump that is always taken, to a fixed address; else 0 */
	uint64_t calls_to;    /* the same of a call */
	uint64_t may_jump_to; /* of a jump that is taken on a condition */
	/* Of one to an address that is not fixed: where that is, unless in a table. */
	bool jumps_through; /* memory */
	uint8_t jumps_by;   /* this register */
	/* A register that gets what is in memory or in another one, or something computed. */
	uint8_t copied, computed;
};

struct decoder;

/* NULL for other machines than EM_X86_64 and EM_AARCH64. */
struct decoder *decoder_new(uint16_t machine);
void decoder_free(struct decoder *d);

/* False: the bytes are no instruction, or only the beginning of one. */
bool decoder_next(struct decoder *d, const uint8_t *bytes, size_t sz, uint64_t address,
		  struct insn *insn);

/* As objdump writes it, cut to cap - 1 bytes. */
void decoder_text(struct decoder *d, const uint8_t *bytes, size_t sz, uint64_t address, char *text,
		  size_t cap);

#endif
