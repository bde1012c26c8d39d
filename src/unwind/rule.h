/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From what call frame information says about a row (struct cfi_state) to a rule of a table. What
 * does not fit 22 bits becomes an exception; the same exception is kept once.
 */
#ifndef BPFPROF_UNWIND_RULE_H
#define BPFPROF_UNWIND_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "unwind/cfi.h"
#include "unwind/held.h"

#if defined(__x86_64__)
#define RULE_OUR_ARCH TABLE_X86
#else
#define RULE_OUR_ARCH TABLE_ARM64
#endif

#define RULES_MAX_EXCEPTIONS 65536u /* files have up to 250 */

struct rules {
	enum table_arch arch;
	struct table_exception *exceptions;
	size_t nr_exceptions, cap;
	uint32_t *slots;       /* hash table: index + 1 */
	size_t nr_unsupported; /* states that became RULE_NONE */
};

void rules_init(struct rules *r, enum table_arch arch);
void rules_release(struct rules *r);

/*
 * The rule for a state. ra_reg: what the CIE calls the return address (struct cfi_cie). Never
 * fails: what cannot be told is RULE_NONE, and counted.
 */
uint32_t rules_add(struct rules *r, const struct cfi_state *s, uint8_t ra_reg);

/* The same with a CFA by a register (CFI_REG) that the called function keeps; held may be NULL. */
uint32_t rules_add_held(struct rules *r, const struct cfi_state *s, uint8_t ra_reg,
			const struct held_place *held);

uint32_t rule_special(enum table_arch arch, enum rule_special code);

#endif
