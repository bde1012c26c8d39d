/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the code of one DWARF unit is: which function it belongs to, which calls the compiler put
 * into that (inlined), and its source lines. Plain arrays, so that they can be kept on disk
 * (dwarf_cache.h): made by one walk over the unit's tree, and asked for any address of it.
 *
 * Limits: 4 million pieces of code, calls that are nested 256 deep; what lies deeper is left out.
 */
#ifndef BPFPROF_SYMBOL_DWARF_UNIT_H
#define BPFPROF_SYMBOL_DWARF_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "base/strings.h"
#include "elf/elf_file.h"
#include "symbol/dwarf_lines.h"
#include "symbol/dwarf_split.h"

#define DWARF_MAX_RANGES (4u << 20)

#define DWARF_NO_NODE UINT32_MAX

/* Code from here to the next range belongs to a node. */
struct dwarf_range {
	uint64_t start;
	uint32_t node;	/* DWARF_NO_NODE: to none */
	uint32_t entry; /* how far in front the function begins here: of a cold part, that */
};

/* A function, or a call that was put into one. Strings are of the unit; 0 = not known. */
struct dwarf_node {
	uint32_t parent;	       /* a smaller one; DWARF_NO_NODE: a function of its own */
	uint32_t name;		       /* as linked, where DWARF says that */
	uint32_t call_file, call_line; /* in the parent */
	uint32_t begin_line;	       /* of the source code of the function; 0 = not known */
	uint32_t pad;
};

struct dwarf_unit {
	struct dwarf_range *ranges; /* ascending */
	size_t nr_ranges, cap_ranges;
	struct dwarf_node *nodes;
	size_t nr_nodes, cap_nodes;
	struct dwarf_row *rows; /* their files are strings */
	size_t nr_rows;
	struct strings strings;
	struct dwarf_maker *maker; /* until all names are read; NULL */
};

/* What a unit is made of. It must stay until the unit is released. */
struct dwarf_sources {
	const struct elf_file *file; /* whose code it is */
	struct dwarf_line_sections lines;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
};

/*
 * Makes a unit of its DIE, and of its other half (NULL: it is not split). False: time was over, or
 * it has too much; u is to be released in any case.
 */
bool dwarf_unit_make(struct dwarf_unit *u, const struct dwarf_sources *s, Dwarf_Die *die,
		     struct dwarf_half *half);
void dwarf_unit_release(struct dwarf_unit *u);

/* Names are read when they are asked for; this reads all that are left. */
void dwarf_unit_complete(struct dwarf_unit *u);

/* The range of an address, NULL when no function of the unit has it. */
const struct dwarf_range *dwarf_unit_find(const struct dwarf_unit *u, uint64_t address);

/* A node with its name and call, which are read now when they were not before. */
const struct dwarf_node *dwarf_unit_node(struct dwarf_unit *u, uint32_t node);

/* The source line of an address: a string and a number, both 0 when not known. */
void dwarf_unit_line(const struct dwarf_unit *u, uint64_t address, uint32_t *file, uint32_t *line);

#endif
