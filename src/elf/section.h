/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sections of an ELF file by name. */
#ifndef BPFPROF_ELF_SECTION_H
#define BPFPROF_ELF_SECTION_H

#include "elf/elf_file.h"

/* The first section of that name, NULL when there is none. Names beyond 1 MB are not read. */
const Elf64_Shdr *section_find(const struct elf_file *f, const char *name);

/* The contents, to be freed, *sz bytes, at most max; NULL when the file has none of it. */
void *section_read(const struct elf_file *f, const Elf64_Shdr *s, size_t max, size_t *sz);

#endif
