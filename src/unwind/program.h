/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the programs of call frame information: comes in what cfi_read_fde() found, goes out one row
 * after the other. Use:
 *
 *	program_start(&p, cfi, &fde);
 *	while (program_next(&p))
 *		… p.state holds in [p.from, p.to) …
 *
 * Rows ascend, are never empty and together cover the function. What an instruction that makes no
 * sense would have changed, and all behind it, has a state without CFA (CFI_UNSUPPORTED). Each byte
 * is read once: a program cannot make more rows than it has bytes, and one.
 */
#ifndef BPFPROF_UNWIND_PROGRAM_H
#define BPFPROF_UNWIND_PROGRAM_H

#include "unwind/cfi.h"

#define PROGRAM_MAX_REMEMBERED 32 /* states; compilers nest 1 to 3 */

struct program {
	const struct cfi *cfi;
	const struct cfi_cie *cie;
	struct cursor code;
	uint64_t start, end; /* of the function */
	uint64_t from, to;   /* of the row */
	bool bad;
	unsigned int nr_remembered;
	struct cfi_state state;
	struct cfi_state remembered[PROGRAM_MAX_REMEMBERED];
};

void program_start(struct program *p, const struct cfi *cfi, const struct cfi_fde *fde);
bool program_next(struct program *p);

/* Runs the first instructions of a CIE into cie->initial; false when they make no sense. */
bool program_run_cie(const struct cfi *cfi, struct cfi_cie *cie, struct cursor code);

#endif
