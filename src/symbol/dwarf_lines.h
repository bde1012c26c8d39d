/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The line table of one DWARF unit (versions 2 to 5): from an address to a file and a line. libdw
 * reads it too, but keeps 70 bytes for each row of each unit until it is closed, and a table made
 * to cost has a row per byte; here neighbours of one line are one row, of 16 bytes.
 */
#ifndef BPFPROF_SYMBOL_DWARF_LINES_H
#define BPFPROF_SYMBOL_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_LINES_MAX_ROWS  (4u << 20) /* of a unit; the rest of its program is not run */
#define DWARF_LINES_MAX_FILES 65536u

/* The line of all code from here to the next row; file counts as the table does. */
struct dwarf_row {
	uint64_t address;
	uint32_t file, line;
};
#define DWARF_NO_FILE UINT32_MAX /* no code of the unit from here on */

struct dwarf_file {
	const char *name; /* in the section */
	uint32_t dir;	  /* of dirs, for a relative name */
};

struct dwarf_lines {
	struct dwarf_row *rows; /* ascending */
	size_t nr_rows, cap_rows;
	const char **dirs; /* 0 is the unit's own, which may be NULL: not known here */
	size_t nr_dirs, cap_dirs;
	struct dwarf_file *files; /* by number; before version 5 the one of number 0 is empty */
	size_t nr_files, cap_files;
};

/* Sections that a line table is made of; NULL with size 0 when there is none. */
struct dwarf_line_sections {
	const uint8_t *line, *line_str, *str;
	size_t line_sz, line_str_sz, str_sz;
	uint64_t deadline_ns; /* for all that is read of one unit; 0 = none */
};

/*
 * Reads the table at an offset of .debug_line. What makes no sense is left out, and ends the rows.
 * The sections must stay until dwarf_lines_release().
 */
void dwarf_lines_load(struct dwarf_lines *l, const struct dwarf_line_sections *s, uint64_t offset);
void dwarf_lines_release(struct dwarf_lines *l);

/* The row that an address belongs to, NULL when none. */
const struct dwarf_row *dwarf_lines_find(const struct dwarf_row *rows, size_t nr, uint64_t address);

/* The whole path of a file, below comp_dir (may be NULL) when relative; NULL: no such file. */
char *dwarf_lines_path(const struct dwarf_lines *l, uint32_t file, const char *comp_dir);

#endif
