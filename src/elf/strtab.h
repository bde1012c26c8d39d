/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A string table of an ELF file, read page by page as names are asked for: a table of 200 MB costs
 * no more than the few thousand names a profile needs. A small direct-mapped cache makes neighbours
 * free.
 */
#ifndef BPFPROF_ELF_STRTAB_H
#define BPFPROF_ELF_STRTAB_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/elf_file.h"

struct strtab {
	const struct elf_file *file;
	uint64_t offset, size; /* in the file */
	uint8_t *pages;
	uint64_t *held; /* number of the page in each slot, plus 1 */
	uint64_t work;	/* bytes read and copied so far: what callers bound */
};

void strtab_init(struct strtab *t, const struct elf_file *f, uint64_t offset, uint64_t size);
void strtab_release(struct strtab *t);

/*
 * Copies the string at a position of the table, NUL-terminated in any case. Returns its length, cap
 * when it does not end within the cap - 1 bytes copied, -1 when it is not in the table.
 */
ssize_t strtab_copy(struct strtab *t, uint64_t at, char *buf, size_t cap);

#endif
