/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One exported symbol by name, as the dynamic linker finds it: by .gnu.hash, without reading the
 * whole table. Files that export nothing have none.
 */
#ifndef BPFPROF_ELF_GNU_HASH_H
#define BPFPROF_ELF_GNU_HASH_H

#include <stdbool.h>

#include "elf/elf_file.h"

/* What a file exports that holds an interpreter of Python. */
#define ELF_PYTHON_RUNTIME "_PyRuntime"

/* False: the file does not define it. */
bool gnu_hash_find(const struct elf_file *f, const char *name, Elf64_Sym *sym);

#endif
