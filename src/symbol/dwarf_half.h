/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bytes of a split unit: its head, and what becomes of its topmost DIE (dwarf_split.h). */
#ifndef BPFPROF_SYMBOL_DWARF_HALF_H
#define BPFPROF_SYMBOL_DWARF_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_HEAD_MAX_BYTES 40

struct dwarf_head {
	uint64_t size; /* of the unit, with its head */
	uint64_t abbrevs;
	uint64_t id;	    /* 0 before version 5, where it is an attribute */
	uint64_t abbrev_at; /* where abbrevs stands */
	uint64_t die_at;    /* where the topmost DIE begins */
	uint16_t version;
	bool wide;    /* 64-bit DWARF */
	bool is_half; /* what a skeleton may belong to: no unit of types */
};

/* Of the first of sz bytes. False: they are none. Its unit may be longer than sz. */
bool dwarf_head_read(struct dwarf_head *h, const uint8_t *bytes, size_t sz);

/* Makes abbreviations begin with their section. */
void dwarf_head_move_abbrevs(const struct dwarf_head *h, uint8_t *unit);

/* What the skeleton knows, and where tables begin in the slices of the unit. */
struct dwarf_bases {
	uint64_t address, str_offsets, rnglists;
};

#define DWARF_ROOT_MAX_ABBREV 48

/*
 * Replaces the topmost DIE, which ends at end, by one that has the bases. Returns where it begins,
 * 0: it has no room. to becomes how it is abbreviated, *sz bytes.
 */
uint64_t dwarf_root_put(const struct dwarf_head *h, const struct dwarf_bases *b, uint8_t *unit,
			uint64_t end, uint8_t to[DWARF_ROOT_MAX_ABBREV], size_t *sz);

#endif
