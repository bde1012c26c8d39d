/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where functions begin in a file without symbols: the search table that the linker makes for
 * unwinding (.eh_frame_hdr) is in every stripped program. It gives no names, but lets all addresses
 * of one function be shown as one.
 */
#ifndef BPFPROF_SYMBOL_FDES_H
#define BPFPROF_SYMBOL_FDES_H

#include <stddef.h>
#include <stdint.h>

#include "elf/eh_header.h"

struct fdes {
	const struct elf_file *file;
	uint64_t vaddr, offset;	       /* of the table: what its entries are relative to */
	struct eh_header_row *entries; /* ascending */
	size_t nr;
	struct fdes_window *window; /* of the file, read last: neighbours are asked for */
};

/*
 * Leaves f empty when the file has no such table, or one that makes no sense. file must stay open
 * until fdes_release().
 */
void fdes_load(struct fdes *f, const struct elf_file *file);
void fdes_release(struct fdes *f);

/*
 * The link address where the function that holds vaddr begins, 0 when none is known to hold it.
 * next (may be NULL) gets where the one behind it begins, 0 for the last.
 */
uint64_t fdes_find(const struct fdes *f, uint64_t vaddr, uint64_t *next);

#endif
