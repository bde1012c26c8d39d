/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which units of a file's DWARF have which code: one look at the head of each unit, as
 * .debug_aranges is not always there and libdw's look-up of an address goes by it.
 *
 * Limits: 4 million ranges.
 */
#ifndef BPFPROF_SYMBOL_DWARF_INDEX_H
#define BPFPROF_SYMBOL_DWARF_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct dwarf_place {
	uint64_t low, high;
	uint64_t die; /* of the unit, in .debug_info */
};

struct dwarf_index {
	struct dwarf_place *places; /* in the order of the units */
	size_t nr, cap;
};

/* False: time was over, or it has too much. To be released in any case. */
bool dwarf_index_make(struct dwarf_index *x, Dwarf *dwarf, uint64_t deadline_ns);
void dwarf_index_release(struct dwarf_index *x);

/* The end of the places of the unit that the one at i belongs to. */
size_t dwarf_index_end(const struct dwarf_index *x, size_t i);

#endif
