/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * .gopclntab of any bytes: an ELF file, or else the contents of the section, which is put into a
 * file here. What comes out must lie in the file.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "elf/gopclntab.h"
#include "tests/fuzz/limits.h"

#define VADDR 0x10000
#define MOST  200 /* functions */

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[32];
	uint8_t contents[];
};

static const char names[32] = "\0.gopclntab\0.text";

static void fill_image(struct image *i, size_t sz)
{
	Elf64_Ehdr *h = &i->header;

	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_machine = EM_X86_64;
	h->e_phoff = offsetof(struct image, segment);
	h->e_phnum = 1;
	h->e_phentsize = sizeof(i->segment);
	h->e_shoff = offsetof(struct image, sections);
	h->e_shnum = 3;
	h->e_shentsize = sizeof(i->sections[0]);
	h->e_shstrndx = 2;
	i->segment = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_vaddr = VADDR,
				   .p_filesz = sizeof(*i) + sz };
	i->sections[1] = (Elf64_Shdr){ .sh_name = 1,
				       .sh_type = SHT_PROGBITS,
				       .sh_addr = VADDR + sizeof(*i),
				       .sh_offset = sizeof(*i),
				       .sh_size = sz };
	i->sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				       .sh_offset = offsetof(struct image, names),
				       .sh_size = sizeof(names) };
	memcpy(i->names, names, sizeof(names));
}

static void check_calls(struct gopclntab *t, uint64_t vaddr)
{
	struct gopclntab_call calls[8];
	size_t nr = gopclntab_calls(t, vaddr, calls, 8);

	assert(nr <= 8);
	for (size_t i = 0; i < nr; i++)
		assert(strlen(calls[i].name) < 1u << 30 &&
		       (!calls[i].file || strlen(calls[i].file) < 1u << 30));
}

static void check_function(struct gopclntab *t, size_t i)
{
	struct gopclntab_function fn;
	struct gopclntab_values v;
	uint64_t at;

	if (!gopclntab_get(t, i, &fn))
		return;
	assert(fn.start <= fn.end && strlen(fn.name) < 1u << 30);
	at = fn.start;
	for (bool more = gopclntab_frame_sizes(t, &fn, &v); more && gopclntab_next(&v);) {
		assert(v.from == at && v.to > at && v.to <= fn.end);
		at = v.to;
	}
	check_calls(t, fn.start);
	check_calls(t, fn.start + (fn.end - fn.start) / 2);
}

static void check_image(const void *bytes, size_t sz)
{
	struct elf_file *f = elf_file_open_image(bytes, sz);
	struct gopclntab *t = f ? gopclntab_open(f) : NULL;

	for (size_t i = 0; t && i < gopclntab_count(t) && i < MOST; i++)
		check_function(t, i);
	gopclntab_close(t);
	elf_file_close(f);
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	struct image *i;

	if (sz >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG)) {
		check_image(data, sz);
		return 0;
	}
	i = calloc(1, sizeof(*i) + sz);
	fill_image(i, sz);
	memcpy(i->contents, data, sz);
	check_image(i, sizeof(*i) + sz);
	free(i);
	return 0;
}
