/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files with the halves of split units: packages (.dwp), whose index says by a unit's id which
 * slice of each section is its own (DWARF 5, 7.3.5, and the GNU extension of DWARF 4, which has the
 * same form), and single ones (.dwo), which have one unit and are its slices as a whole. The index
 * is read here since libdw reads it only from elfutils 0.191 on, and of files that it opened.
 *
 * Units of types (.debug_tu_index) are not looked for: functions and calls have their names in the
 * unit that has their code.
 *
 * Limits: an index of 64 MB, 256 MB of sections that are compressed, once they are unpacked.
 */
#ifndef BPFPROF_SYMBOL_DWARF_PACKAGE_H
#define BPFPROF_SYMBOL_DWARF_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

enum dwarf_part {
	DWARF_PART_INFO,
	DWARF_PART_ABBREV,
	DWARF_PART_LINE,
	DWARF_PART_STR_OFFSETS,
	DWARF_PART_RNGLISTS,
	DWARF_NR_SLICES, /* behind these all units share what there is */
	DWARF_PART_STR = DWARF_NR_SLICES,
	DWARF_NR_PARTS,
};

struct dwarf_slice {
	uint64_t at, size; /* in the section; empty: the unit has none of it */
};

struct dwarf_package;

/* NULL: it has no units, over the limits or without an index. f is borrowed. */
struct dwarf_package *dwarf_package_open(const struct elf_file *f);
/* The same of a file with a single unit. */
struct dwarf_package *dwarf_package_open_single(const struct elf_file *f);
void dwarf_package_close(struct dwarf_package *p);

/* What may be of the unit of that id, within the sections. False: there is no such unit. */
bool dwarf_package_find(const struct dwarf_package *p, uint64_t id,
			struct dwarf_slice slices[DWARF_NR_SLICES]);

uint64_t dwarf_package_size(const struct dwarf_package *p, enum dwarf_part part);
/* May its file cost so many bytes? (debug_part.h) */
bool dwarf_package_is_paid_for(const struct dwarf_package *p, uint64_t bytes);

/* Copies bytes of a section; what it does not have is 0. */
void dwarf_package_read(struct dwarf_package *p, enum dwarf_part part, struct dwarf_slice slice,
			void *to);

#endif
