/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files that read .gopclntab share. */
#ifndef BPFPROF_ELF_GOPCLNTAB_PARTS_H
#define BPFPROF_ELF_GOPCLNTAB_PARTS_H

#include "elf/gopclntab.h"

#define GO_1_18 0xfffffff0u
#define GO_1_20 0xfffffff1u

/* The offsets count from the first byte of the header. */
struct gopclntab_header {
	uint32_t magic;
	uint8_t zero[2], quantum, pointer;
	uint64_t nr_functions, nr_files;
	uint64_t text; /* where the code begins; 0 since Go 1.26, and where it is relocated */
	uint64_t names, units, files, pcs, rows;
};
_Static_assert(sizeof(struct gopclntab_header) == 72, "as the linker of Go writes it");

struct gopclntab {
	const struct elf_file *file;
	void *section;	      /* owned */
	const uint8_t *bytes; /* of the table, in section; a zero is behind the last */
	size_t sz;
	uint64_t vaddr; /* of the table */
	struct gopclntab_header h;
	uint64_t text;	 /* where code begins */
	uint64_t gofunc; /* where records of inlined calls are counted from; 0 = not known */
	uint64_t work;	 /* numbers that were read to find calls */
};

/* The numbers whose place in the table is off; false when there are none. */
bool gopclntab_values(const struct gopclntab *t, const struct gopclntab_function *fn, uint32_t off,
		      struct gopclntab_values *v);
bool gopclntab_u32(const struct gopclntab *t, uint64_t at, uint32_t *value);
/* The name at an offset; NULL when it lies outside. */
const char *gopclntab_name(const struct gopclntab *t, uint32_t name);

/*
 * What the runtime's module data says: text where the header does not, and gofunc. False: it was
 * not found, and both are left alone.
 */
bool gomodule_read(struct gopclntab *t);

#endif
