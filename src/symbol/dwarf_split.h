/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The halves of split units that are in files of their own: a package of all (.dwp), or one file
 * for each (.dwo), which is where the compiler left it. Both are read in the same way. libdw would
 * open a .dwo itself, by a name of the target's, and knows no packages; so it gets an ELF file in
 * memory with the slices of one unit, whose topmost DIE is replaced:
 *
 *	skeleton: base address, bases of .debug_addr and ranges  --+
 *	                                                           v
 *	split unit: [ head | topmost DIE | children ]  -->  [ head | bases, padding | children ]
 *
 * so that it is a unit like all others. Children stay where they are, as they refer to each other.
 *
 * Limits: 512 MB for a unit with the strings of its file, and 64 times what that takes on disk. Of
 * lists of ranges that are in no .dwo (GCC before 11) those of the program are taken.
 */
#ifndef BPFPROF_SYMBOL_DWARF_SPLIT_H
#define BPFPROF_SYMBOL_DWARF_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "elf/elf_file.h"
#include "symbol/debug_image.h"
#include "symbol/dwarf_lines.h"

/* The other half of a unit. */
struct dwarf_half {
	Dwarf_Die die;
	struct dwarf_line_sections lines; /* of its files; line NULL: they are those of the unit */
};

struct dwarf_split;

/*
 * f has the skeletons, and i is its image; packages are files that may have the halves, best first.
 * All is borrowed.
 */
struct dwarf_split *dwarf_split_new(const struct elf_file *f, const struct debug_image *i,
				    struct elf_file *const *packages, size_t nr);
void dwarf_split_free(struct dwarf_split *s);

/*
 * The other half of a skeleton; it stays until the next one is asked for. False: it is gone, or not
 * to be read. path: where it should be when no package has it, NULL = nowhere; to be freed.
 */
bool dwarf_split_find(struct dwarf_split *s, Dwarf_Die *skeleton, struct dwarf_half *half,
		      char **path);

#endif
