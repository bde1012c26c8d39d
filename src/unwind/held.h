/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a frame is told by a register other than the stack and the frame pointer, and calls: what
 * it calls keeps that register, if it is one that functions preserve. The dynamic linker's
 * _dl_runtime_resolve_… is such code: it aligns the stack pointer, for vector registers whose size
 * the processor tells, and has the old one in rbx. x86-64 only.
 */
#ifndef BPFPROF_UNWIND_HELD_H
#define BPFPROF_UNWIND_HELD_H

#include <stdbool.h>

#include "unwind/layout.h"

#define HELD_MAX_ROW   1024u	    /* bytes of code that one rule holds for */
#define HELD_MAX_BYTES (256u << 10) /* of code looked at in one file */

struct held {
	const struct layout *layout;
	uint32_t nr_bytes; /* that were looked at */
};

/* Where the register is while the called function runs. */
struct held_place {
	int32_t function; /* that is called, from the return address */
	int32_t off;	  /* there, from the stack pointer of the caller on … */
	uint8_t push;	  /* … but up to this offset of the function in its register */
};

/*
 * Of a register that tells the CFA in [from, to), where just one call stands. False: it is none
 * that functions preserve, or there is no such call, or none to a function that pushes it.
 */
bool held_find(struct held *h, uint64_t from, uint64_t to, uint8_t reg, struct held_place *place);

#endif
