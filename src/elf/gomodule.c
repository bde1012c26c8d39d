/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The module data of the runtime of Go (runtime.moduledata), which leads to what its table does not
 * tell. It begins with the address of the table and that of the table's names: nothing else does.
 * In programs that can be loaded anywhere its words are relocations.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/gopclntab_parts.h"
#include "elf/section.h"

#define MAX_DATA       (64u << 20)
#define MAX_CANDIDATES 16

/* Words of the module data. */
#define WORD_NAMES     1
#define WORD_TEXT      22
#define WORD_GOFUNC(t) ((t)->h.magic == GO_1_18 ? 38 : 40)

#define R_X86_RELATIVE	 8
#define R_ARM64_RELATIVE 1027

struct relocations {
	Elf64_Rela *list;
	size_t nr;
};

static void read_relocations(struct relocations *r, const struct elf_file *f)
{
	const Elf64_Shdr *s = section_find(f, ".rela.dyn") ?: section_find(f, ".rela");
	size_t sz;

	*r = (struct relocations){};
	r->list = s ? section_read(f, s, MAX_DATA, &sz) : NULL;
	r->nr = r->list ? sz / sizeof(*r->list) : 0;
}

static bool is_relative(const Elf64_Rela *r)
{
	return ELF64_R_TYPE(r->r_info) == R_X86_RELATIVE ||
	       ELF64_R_TYPE(r->r_info) == R_ARM64_RELATIVE;
}

/* The word at an address, as it is once the program was loaded; 0 = not known. */
static uint64_t word_at(const struct gopclntab *t, const struct relocations *r, uint64_t vaddr)
{
	uint64_t offset, word;

	for (size_t i = 0; i < r->nr; i++)
		if (r->list[i].r_offset == vaddr && is_relative(&r->list[i]))
			return r->list[i].r_addend;
	if (!elf_file_offset(t->file, vaddr, &offset) ||
	    elf_file_read(t->file, offset, &word, sizeof(word)) != sizeof(word))
		return 0;
	return word;
}

static bool is_module(const struct gopclntab *t, const struct relocations *r, uint64_t vaddr)
{
	return word_at(t, r, vaddr) == t->vaddr &&
	       word_at(t, r, vaddr + 8 * WORD_NAMES) == t->vaddr + t->h.names;
}

static uint64_t find_relocated(const struct gopclntab *t, const struct relocations *r)
{
	size_t candidates = 0;

	for (size_t i = 0; i < r->nr && candidates < MAX_CANDIDATES; i++) {
		if ((uint64_t)r->list[i].r_addend != t->vaddr || !is_relative(&r->list[i]))
			continue;
		candidates++;
		if (is_module(t, r, r->list[i].r_offset))
			return r->list[i].r_offset;
	}
	return 0;
}

static uint64_t find_in(const struct gopclntab *t, const char *name)
{
	const Elf64_Shdr *s = section_find(t->file, name);
	const uint64_t want[2] = { t->vaddr, t->vaddr + t->h.names };
	uint64_t found = 0;
	uint8_t *bytes;
	size_t sz;

	bytes = s ? section_read(t->file, s, MAX_DATA, &sz) : NULL;
	for (size_t at = 0; bytes && !found && at + sizeof(want) <= sz; at += 8)
		if (!memcmp(bytes + at, want, sizeof(want)))
			found = s->sh_addr + at;
	free(bytes);
	return found;
}

bool gomodule_read(struct gopclntab *t)
{
	static const char *const sections[] = { ".go.module", ".noptrdata", ".data" };
	struct relocations r;
	uint64_t module;

	read_relocations(&r, t->file);
	module = find_relocated(t, &r);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !module; i++)
		module = find_in(t, sections[i]);
	if (module) {
		t->text = word_at(t, &r, module + 8 * WORD_TEXT);
		t->gofunc = word_at(t, &r, module + 8 * WORD_GOFUNC(t));
	}
	free(r.list);
	return module && t->text;
}
