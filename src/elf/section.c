/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks a section up by its name. */
#include "elf/section.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_NAMES (1u << 20)

void *section_read(const struct elf_file *f, const Elf64_Shdr *s, size_t max, size_t *sz)
{
	char *bytes;

	if (s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_COMPRESSED) || s->sh_offset >= f->size)
		return NULL;
	*sz = s->sh_size < max ? s->sh_size : max;
	if (*sz > f->size - s->sh_offset)
		*sz = f->size - s->sh_offset;
	bytes = xmalloc(*sz + 1);
	*sz = elf_file_read(f, s->sh_offset, bytes, *sz);
	bytes[*sz] = '\0';
	return bytes;
}

const Elf64_Shdr *section_find(const struct elf_file *f, const char *name)
{
	uint16_t strings = f->header.e_shstrndx;
	const Elf64_Shdr *found = NULL;
	char *names;
	size_t sz;

	if (strings >= f->nr_sections)
		return NULL;
	names = section_read(f, &f->sections[strings], MAX_NAMES, &sz);
	for (size_t i = 0; names && i < f->nr_sections && !found; i++)
		if (f->sections[i].sh_name < sz && !strcmp(names + f->sections[i].sh_name, name))
			found = &f->sections[i];
	free(names);
	return found;
}
