/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of an ELF file, looked up by file offset, which is what mappings and samples
 * speak of.
 *
 * Taken are STT_FUNC, STT_GNU_IFUNC, and STT_NOTYPE labels in executable sections, from .symtab or
 * .dynsym, of the file or of its debug file (debug_file.c). Then, for each address:
 *
 *	- A symbol with a size covers that and no more: what lies in a hole has no name.
 *	- Where symbols overlap, the innermost wins: the one that starts last, of these the
 *	  shortest.
 *	- A symbol without a size names its own address, and what follows while nothing else
 *	  speaks (unsized.h): it reaches to the next symbol, also of data, or its section's end,
 *	  at most a page, and only where no sized one is.
 *	- Of several with the same extent the name shown is GLOBAL before WEAK before LOCAL,
 *	  function before label, then by naming_compare(). "@VERSION" is cut off.
 *
 * Limits, past which a table counts as absent: 8 million entries, 1.1 million functions, and so
 * much reading of names as only a table made to cost needs. Any input stays below 1 s and 64 MB;
 * 200,000 functions take about 30 ms.
 */
#ifndef BPFPROF_SYMBOL_ELF_H
#define BPFPROF_SYMBOL_ELF_H

#include <stddef.h>
#include <stdint.h>

#include "symbol/source.h"

struct elf_symbols;

/*
 * What the table of a type (SHT_SYMTAB, SHT_DYNSYM) in from says of f, which may be the same file;
 * both must stay open until elf_symbols_free(). NULL: it has no functions, as below.
 */
struct elf_symbols *elf_symbols_new(const struct elf_file *f, const struct elf_file *from,
				    uint32_t type);
void elf_symbols_free(struct elf_symbols *s);

/*
 * The name of the function at a file offset as the table has it, NULL when none. Valid until the
 * next call.
 */
const char *elf_symbols_find(struct elf_symbols *s, uint64_t offset);
/* The same as a symbol source answers. */
bool elf_symbols_answer(struct elf_symbols *s, uint64_t offset, struct symbol_found *found);

/* Pieces that the table was flattened into; 0 for NULL, which is no table. */
size_t elf_symbols_count(const struct elf_symbols *s);

#endif
