/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where in an ELF file things lie that tell how to unwind it: its code, and the sections that we
 * look into. All of it lies in the file: claims beyond its end are cut or dropped.
 */
#ifndef BPFPROF_UNWIND_LAYOUT_H
#define BPFPROF_UNWIND_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "elf/elf_file.h"

/* Bytes of the file and the addresses they are linked to. */
struct range {
	uint64_t start, end; /* link addresses; empty: not there */
	uint64_t offset;     /* of start, in the file */
};

enum layout_section {
	SECTION_TEXT,
	SECTION_GOT_PLT,
	SECTION_EH_FRAME,
	SECTION_DEBUG_FRAME,
	SECTION_SYMTAB,
	SECTION_PLT,
	SECTION_PLT_SEC,
	SECTION_PLT_GOT,
	SECTION_IPLT,
	NR_SECTIONS,
};

struct layout {
	const struct elf_file *file;
	enum table_arch arch;
	struct range *code; /* executable segments: ascending, disjoint, not empty */
	size_t nr_code;
	struct range sections[NR_SECTIONS];
	bool debug_frame_is_compressed; /* then its range is that of a struct Elf64_Chdr */
};

/* -ENOEXEC when it is for another machine, -ENODATA when it has no code. */
int layout_init(struct layout *l, const struct elf_file *file);
void layout_release(struct layout *l);

/* The code that an address lies in, or NULL. O(log of segments). */
const struct range *layout_code(const struct layout *l, uint64_t vaddr);

/* The rest of the segment that holds an address, as far as the file has it: may be empty. */
struct range layout_rest(const struct layout *l, uint64_t vaddr);

/* Copies what there is at an address, up to sz bytes; returns how much that was. */
size_t layout_read(const struct layout *l, uint64_t vaddr, void *buf, size_t sz);

#endif
