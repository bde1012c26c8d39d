/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of stripped files: unwinding needs to know where they begin, if not their names. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/text.h"
#include "symbol/fdes.h"
#include "uprobe/functions_parts.h"

/* Of the code that holds an address: where it ends; 0 = none does. */
static uint64_t code_end(const struct elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		const Elf64_Phdr *s = &file->segments[i];

		if (s->p_type == PT_LOAD && s->p_flags & PF_X && address >= s->p_vaddr &&
		    address - s->p_vaddr < s->p_filesz)
			return s->p_vaddr + s->p_filesz;
	}
	return 0;
}

static const char *keep_text(struct functions *fs, char *text)
{
	fs->unnamed = xgrow(fs->unnamed, fs->nr_unnamed, &fs->cap_unnamed, sizeof(*fs->unnamed));
	fs->unnamed[fs->nr_unnamed++] = text;
	return text;
}

bool function_unnamed(struct functions *fs, uint64_t address, struct uprobe_function *f)
{
	uint64_t end = code_end(fs->file, address), next = 0;
	struct fdes fdes;

	if (!end)
		return false;
	fdes_load(&fdes, fs->file);
	*f = (struct uprobe_function){ .names = fs->names,
				       .address = fdes_find(&fdes, address, &next) };
	fdes_release(&fdes);
	f->begins_anywhere = !f->address;
	if (f->begins_anywhere)
		f->address = address;
	f->size = (next > address && next < end ? next : end) - f->address;
	f->name = keep_text(fs, xasprintf("+0x%" PRIx64, f->address));
	return elf_file_offset(fs->file, f->address, &f->offset);
}
