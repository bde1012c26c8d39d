/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the name in a skeleton unit to the unit in the file of that name. */
#include "symbol/dwarf_split.h"

#include <dwarf.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/section.h"
#include "symbol/companion.h"

#define MAX_BYTES (256ull << 20)
#define MAX_LINES (4ull << 20)

/* What a section takes once it is unpacked. */
static uint64_t unpacked(const struct elf_file *f, const Elf64_Shdr *s)
{
	Elf64_Chdr head;

	if (s->sh_type == SHT_NOBITS || !(s->sh_flags & SHF_COMPRESSED))
		return s->sh_type == SHT_NOBITS ? 0 : s->sh_size;
	if (elf_file_read(f, s->sh_offset, &head, sizeof(head)) != sizeof(head))
		return UINT64_MAX;
	return head.ch_size;
}

static bool is_small(const struct elf_file *f)
{
	const Elf64_Shdr *lines = section_find(f, ".debug_line.dwo");
	uint64_t sum = 0, sz;

	for (size_t i = 0; i < f->nr_sections; i++) {
		sz = unpacked(f, &f->sections[i]);
		if (sz > MAX_BYTES - sum)
			return false;
		sum += sz;
	}
	return f->nr_sections && (!lines || unpacked(f, lines) <= MAX_LINES);
}

static bool is_readable(const char *path)
{
	struct elf_file *f;
	bool ok;
	int fd = companion_open_path(path);

	if (fd < 0)
		return false;
	f = elf_file_open(fd);
	ok = f && is_small(f);
	elf_file_close(f);
	close(fd);
	return ok;
}

bool dwarf_split_find(Dwarf_Die *die, Dwarf_Die *split, char **path)
{
	Dwarf_Attribute a;
	const char *name = dwarf_formstring(dwarf_attr(die, DW_AT_dwo_name, &a)), *dir;

	*path = NULL;
	if (!name)
		name = dwarf_formstring(dwarf_attr(die, DW_AT_GNU_dwo_name, &a));
	dir = dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &a));
	if (!name || (*name != '/' && (!dir || *dir != '/')))
		return false;
	*path = *name == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name);
	return is_readable(*path) &&
	       !dwarf_cu_info(die->cu, NULL, NULL, NULL, split, NULL, NULL, NULL) && split->addr;
}
