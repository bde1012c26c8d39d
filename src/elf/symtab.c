/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds a symbol table by its section header and reads it chunk by chunk. */
#include "elf/symtab.h"

#include <stdlib.h>

#include "base/mem.h"

#define MAX_ENTRIES (8u << 20)
#define CHUNK	    2048u

static bool section_is_inside(const struct elf_file *f, const Elf64_Shdr *s)
{
	return s->sh_offset <= f->size && s->sh_size <= f->size - s->sh_offset &&
	       !(s->sh_flags & SHF_COMPRESSED);
}

bool symtab_find(struct symtab *t, const struct elf_file *f, uint32_t type)
{
	for (size_t i = 0; i < f->nr_sections; i++) {
		const Elf64_Shdr *s = &f->sections[i], *strings;

		if (s->sh_type != type || s->sh_entsize != sizeof(Elf64_Sym) ||
		    s->sh_link >= f->nr_sections)
			continue;
		strings = &f->sections[s->sh_link];
		if (strings->sh_type != SHT_STRTAB || !section_is_inside(f, s) ||
		    !section_is_inside(f, strings))
			continue;
		*t = (struct symtab){ f, s, strings };
		return true;
	}
	return false;
}

bool symtab_for_each(const struct symtab *t, bool (*each)(void *arg, const Elf64_Sym *sym),
		     void *arg)
{
	uint64_t nr = t->entries->sh_size / sizeof(Elf64_Sym), done = 0;
	Elf64_Sym *chunk = xcalloc(CHUNK, sizeof(*chunk));
	bool ok = nr <= MAX_ENTRIES;
	size_t part, sz;

	for (; ok && done < nr; done += part) {
		part = nr - done < CHUNK ? nr - done : CHUNK;
		sz = part * sizeof(*chunk);
		ok = elf_file_read(t->file, t->entries->sh_offset + done * sizeof(*chunk), chunk,
				   sz) == sz;
		for (size_t i = 0; ok && i < part; i++)
			ok = each(arg, &chunk[i]);
	}
	free(chunk);
	return ok;
}

uint64_t symtab_section_rest(const struct elf_file *f, const Elf64_Sym *sym)
{
	const Elf64_Shdr *s;

	if (sym->st_shndx >= f->nr_sections)
		return 0;
	s = &f->sections[sym->st_shndx];
	if (!(s->sh_flags & SHF_EXECINSTR) || sym->st_value < s->sh_addr ||
	    sym->st_value - s->sh_addr >= s->sh_size)
		return 0;
	return s->sh_size - (sym->st_value - s->sh_addr);
}
