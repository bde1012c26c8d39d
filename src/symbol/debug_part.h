/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sections of a file that may be compressed, copied with bounds, and ELF files in memory that
 * consist of a header and such copies, for libdw: the target's own headers never get there.
 */
#ifndef BPFPROF_SYMBOL_DEBUG_PART_H
#define BPFPROF_SYMBOL_DEBUG_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct debug_part {
	const Elf64_Shdr *from; /* NULL = there is none */
	uint64_t size;		/* unpacked */
	bool packed;
};

/* False, and p is empty: it is not there, or not to be used. Nothing is allocated. */
bool debug_part_find(const struct elf_file *f, const char *name, struct debug_part *p);
/* The same of a section of f, or of NULL. */
bool debug_part_of(const struct elf_file *f, const Elf64_Shdr *s, struct debug_part *p);

/* Is it compressed in a way that is not read here? */
bool debug_part_is_foreign(const struct elf_file *f, const char *name);

/* Copies size bytes, unpacked. Returns how many the file has of them; the others stay. */
uint64_t debug_part_read(const struct elf_file *f, const struct debug_part *p, uint8_t *to);

/* A few blocks must not cost a gigabyte: holes in a file, or data made to be packed well. */
bool debug_part_is_paid_for(const struct elf_file *f, uint64_t bytes);

#define DEBUG_LAYOUT_MAX     10
#define DEBUG_LAYOUT_AT(pos) (((pos) + 15) & ~15ull)

/* What stands in front of the copies. */
struct debug_layout {
	Elf64_Ehdr header;
	Elf64_Shdr sections[DEBUG_LAYOUT_MAX + 2]; /* behind none: names, then those added */
	char names[256];
};

/* For a machine and byte order as those of f. */
void debug_layout_init(struct debug_layout *l, const struct elf_file *f);
/* at: from the begin of the layout. No more than DEBUG_LAYOUT_MAX, with short names. */
void debug_layout_add(struct debug_layout *l, const char *name, uint64_t at, uint64_t size);

#endif
