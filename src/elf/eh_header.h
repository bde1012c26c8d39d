/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .eh_frame_hdr (Linux Standard Base, "Exception Frames"): where .eh_frame is, and a search table
 * of all functions that it describes. It lies in a segment of its own, so stripped programs have
 * it. Linkers write one form of it, which is the one read here: the address of .eh_frame in 4
 * bytes relative to itself, a 4-byte count, and rows of two 4-byte offsets from the header.
 */
#ifndef BPFPROF_ELF_EH_HEADER_H
#define BPFPROF_ELF_EH_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* A function and its FDE: link addresses, less eh_header.vaddr. */
struct eh_header_row {
	int32_t start, fde;
};

struct eh_header {
	uint64_t vaddr, offset; /* of the header, linked and in the file */
	uint64_t eh_frame;	/* link address */
	uint64_t rows;		/* offset in the file */
	size_t nr_rows;		/* as many as lie in the file; 0 = there is no table */
};

/* False when the file has none of this form. */
bool eh_header_read(struct eh_header *h, const struct elf_file *f);

#endif
