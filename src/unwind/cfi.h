/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call frame information: the entries of .eh_frame or .debug_frame (DWARF 5, 6.4; Linux Standard
 * Base, "Exception Frames"). A CIE is what many functions have in common, an FDE is one function,
 * and both hold programs (program.h) whose result is, per address, how to find the caller's stack
 * pointer (the CFA), its frame pointer and the return address. Other registers are skipped.
 *
 * Bytes come from outside. An entry that makes no sense costs itself and nothing else.
 */
#ifndef BPFPROF_UNWIND_CFI_H
#define BPFPROF_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "base/cursor.h"

enum cfi_kind {
	CFI_SAME = 0,	 /* unchanged */
	CFI_UNDEFINED,	 /* not known; of the return address: there is no caller */
	CFI_AT_CFA,	 /* saved at CFA + off */
	CFI_IS_CFA,	 /* is CFA + off */
	CFI_IN_REG,	 /* is in register reg */
	CFI_REG,	 /* reg + off: the CFA is that, others are saved there */
	CFI_DEREF,	 /* *(reg + off) + off2: likewise */
	CFI_PLT,	 /* CFA only: SP + 8, or 16 from byte off of each 16 on */
	CFI_UNSUPPORTED, /* an expression beyond these */
};

struct cfi_value {
	int32_t off;
	int16_t off2;
	uint8_t kind; /* enum cfi_kind */
	uint8_t reg;  /* as DWARF numbers them */
};

struct cfi_state {
	struct cfi_value cfa, fp, ra;
};
_Static_assert(sizeof(struct cfi_state) == 24, "copied often");

struct cfi_cie {
	uint64_t id; /* offset + 1; 0 = nothing here */
	uint64_t code_align;
	int64_t data_align;
	struct cfi_state initial;
	uint8_t ra_reg;
	uint8_t encoding; /* of addresses: DW_EH_PE_... */
	uint8_t segment_sz;
	bool has_sizes; /* augmentation 'z': FDEs say how much of it they have */
	bool is_signal; /* augmentation 'S' */
	bool bad;
};

#define CFI_NR_CIES 1024 /* the ones last seen, one per remainder of the offset */

struct cfi {
	const uint8_t *bytes; /* borrowed */
	size_t sz;
	uint64_t vaddr; /* where the bytes are linked to */
	enum table_arch arch;
	bool is_debug;	     /* .debug_frame */
	uint64_t text, data; /* what DW_EH_PE_textrel and datarel count from */
	struct cfi_cie *cies;
	uint64_t budget; /* bytes of CIEs left to read, so that no file makes us read on and on */
};

struct cfi_fde {
	uint64_t start, end;	   /* link addresses; start < end */
	const struct cfi_cie *cie; /* until the next call for this cfi */
	struct cursor program;
	size_t sz; /* of the entry */
};

/* bytes, sz, vaddr, arch and is_debug are set, text and data if known. */
void cfi_init(struct cfi *c);
void cfi_release(struct cfi *c);

/* The registers that we follow, and the one that holds the return address by convention. */
static inline uint8_t cfi_fp(enum table_arch arch)
{
	return arch == TABLE_X86 ? 6 : 29;
}

static inline uint8_t cfi_sp(enum table_arch arch)
{
	return arch == TABLE_X86 ? 7 : 31;
}

static inline uint8_t cfi_ra(enum table_arch arch)
{
	return arch == TABLE_X86 ? 16 : 30;
}

/*
 * Reads the FDE at an offset. False: there is none, it covers nothing, or it is none we can read.
 * Functions at address 0 are ones that the linker has dropped, and count as nothing.
 */
bool cfi_read_fde(struct cfi *c, size_t offset, struct cfi_fde *fde);

/* The offset behind the entry at an offset: 0 when it is the last, or reaches beyond the bytes. */
size_t cfi_next(const struct cfi *c, size_t offset);

/*
 * Reads a pointer as DW_EH_PE_... says; function is what DW_EH_PE_funcrel counts from. False: it
 * does not lie in the bytes, or (DW_EH_PE_indirect) its value does not lie in the file.
 */
bool cfi_pointer(const struct cfi *c, struct cursor *at, uint8_t encoding, uint64_t function,
		 uint64_t *value);

#endif
