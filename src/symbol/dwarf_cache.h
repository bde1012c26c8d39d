/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DWARF that was read before, on disk: of a file with a build-id, which of its units has which
 * code, and of each unit that was ever wanted all that dwarf_unit.h says of it. So other addresses
 * of the same units are answered as well. What is read is checked (checksums, all ids, all orders)
 * as if it came from anywhere.
 *
 *	head | units' contents ... | places | table of units
 */
#ifndef BPFPROF_SYMBOL_DWARF_CACHE_H
#define BPFPROF_SYMBOL_DWARF_CACHE_H

#include <stdbool.h>

#include "elf/elf_file.h"
#include "symbol/dwarf_index.h"
#include "symbol/dwarf_unit.h"

struct dwarf_cache;

/*
 * What the folder dir (cache_dir.h, borrowed; -1 = none) has of the DWARF of a file that is in
 * from; NULL: it cannot be kept, as the file has no build-id.
 */
struct dwarf_cache *dwarf_cache_open(int dir, const struct elf_file *file,
				     const struct elf_file *from);

/* The index, which is new to x. False: it is not there. */
bool dwarf_cache_index(const struct dwarf_cache *c, struct dwarf_index *x);

/* The unit at a DIE, to be released. False: it is not there, and u is empty. */
bool dwarf_cache_get(const struct dwarf_cache *c, uint64_t die, struct dwarf_unit *u);

/* Another unit, which is completed for that. */
void dwarf_cache_put(struct dwarf_cache *c, uint64_t die, struct dwarf_unit *u);

/* Writes the file again when there are new units, and frees c; NULL is fine. */
void dwarf_cache_close(struct dwarf_cache *c, const struct dwarf_index *x);

#endif
