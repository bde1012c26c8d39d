/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the unwind table of an ELF file: comes in what compilers and linkers left in the file, goes
 * out the blob that bpf/table.h describes. The machine is the file's, not the host's.
 *
 * What a table says, by falling precedence: .gopclntab (go.h), .eh_frame, .debug_frame (also
 * compressed by zlib), and what is known without (stubs.h). Where functions overlap, the one that
 * begins first has the code. A gap of up to 15 bytes is padding and keeps the rule before it; what
 * is longer has RULE_NONE.
 *
 * Limits, for files made to hurt:
 *	24 MB of .eh_frame, and of .debug_frame; 1,500,000 functions in each: the rest counts as
 *	absent, as does whatever makes no sense;
 *	2,000,000 pages from first to last (2 GB of code on x86-64), 3,500,000 rows: beyond, -E2BIG.
 * Memory is at most the section in work, 8 bytes per function, twice the table. Each byte is
 * interpreted once, 20 to 40 ns per row.
 */
#ifndef BPFPROF_UNWIND_TABLE_H
#define BPFPROF_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/table.h"
#include "elf/elf_file.h"

#define TABLE_MAX_PAGES	     2000000u
#define TABLE_MAX_ROWS_TOTAL 3500000u
#define TABLE_MAX_PADDING    15u

struct table {
	uint32_t *words; /* the blob */
	size_t nr_words;
	enum table_arch arch;
	uint64_t first_page; /* link address >> TABLE_PAGE_SHIFT */
	uint32_t nr_pages;
	uint32_t exceptions; /* index of the first one's word */
	uint32_t nr_exceptions;
	size_t nr_rows;	       /* changes of the rule: rows, and starts of pages that are one */
	size_t nr_read;	       /* rows before equal ones were dropped */
	size_t nr_unsupported; /* of these, rows that say what no rule can: RULE_NONE */
};

/* What else is to be done while a table is built: called every few milliseconds. */
struct table_pause {
	void (*call)(void *arg);
	void *arg;
};

/*
 * Fill t. Return 0, or a negative errno and t is empty: -ENOEXEC for other machines, -ENODATA when
 * the file says nothing, -E2BIG beyond the limits. table_release() may be called in any case. pause
 * may be NULL.
 */
int table_build(struct table *t, const struct elf_file *f, const struct table_pause *pause);

/* The same for an image of the vDSO: on aarch64, code without frame information is looked into. */
int table_build_vdso(struct table *t, const struct elf_file *f, const struct table_pause *pause);

void table_release(struct table *t);

/* Does it lie within its words, whoever made it? */
bool table_is_sound(const struct table *t);

/* The rule at a link address; RULE_NONE for all that the table does not cover. */
uint32_t table_rule(const struct table *t, uint64_t vaddr);

/* The exception that a rule refers to; NULL for all other rules. */
const struct table_exception *table_exception(const struct table *t, uint32_t rule);

#endif
