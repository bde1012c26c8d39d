/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The entries of a symbol table, read in chunks: a table that claims gigabytes costs no memory.
 */
#ifndef BPFPROF_ELF_SYMTAB_H
#define BPFPROF_ELF_SYMTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"

struct symtab {
	const struct elf_file *file;
	const Elf64_Shdr *entries, *strings;
};

/* The first usable table of a type (SHT_SYMTAB, SHT_DYNSYM); false when there is none. */
bool symtab_find(struct symtab *t, const struct elf_file *f, uint32_t type);

/*
 * Calls each for all entries while that returns true. False: it did not, or the table has more than
 * 8 million entries, or the file became shorter.
 */
bool symtab_for_each(const struct symtab *t, bool (*each)(void *arg, const Elf64_Sym *sym),
		     void *arg);

/*
 * How many bytes the symbol's own executable section has from the symbol on; 0 when it lies in
 * none.
 */
uint64_t symtab_section_rest(const struct elf_file *f, const Elf64_Sym *sym);

#endif
