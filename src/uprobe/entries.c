/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pointers to code in data: relocations, words, tables. */
#include "uprobe/entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_TABLE   65536u	/* entries of one */
#define MAX_RELOCS  (16u << 20) /* bytes read at once are a part of it */
#define RELOC_CHUNK 4096u

/* Entries lead into code; the first one that does not is behind the table. */
void entries_mark_table(struct image *img, uint64_t base)
{
	size_t sz = 0, left;
	const uint8_t *bytes = image_bytes(img, base, &sz);
	int32_t offset;

	for (size_t i = 0; i < MAX_TABLE && sz >= 4 * (i + 1); i++) {
		memcpy(&offset, bytes + 4 * i, sizeof(offset));
		if (!image_code(img, base + offset, &left))
			return;
		image_mark(img, base + offset);
	}
}

static void mark_words(struct image *img, const struct image_range *r)
{
	uint64_t word;

	for (size_t i = -r->start & 7; i + sizeof(word) <= r->sz; i += sizeof(word)) {
		memcpy(&word, r->bytes + i, sizeof(word));
		image_mark(img, word);
	}
}

/* What the dynamic linker adds to a symbol; without one, the address itself. */
static bool symbol_value(const struct elf_file *f, const Elf64_Shdr *s, uint32_t number,
			 uint64_t *value)
{
	const Elf64_Shdr *symbols;
	Elf64_Sym sym;

	*value = 0;
	if (!number)
		return true;
	if (s->sh_link >= f->nr_sections)
		return false;
	symbols = &f->sections[s->sh_link];
	if (elf_file_read(f, symbols->sh_offset + number * sizeof(sym), &sym, sizeof(sym)) !=
	    sizeof(sym))
		return false;
	*value = sym.st_value;
	return true;
}

static void mark_reloc(struct image *img, const struct elf_file *f, const Elf64_Shdr *s,
		       const Elf64_Rela *r)
{
	uint64_t value;

	/* A symbol by itself is known to be a way in. */
	if (r->r_addend && symbol_value(f, s, ELF64_R_SYM(r->r_info), &value))
		image_mark(img, value + r->r_addend);
}

static void mark_relocs(struct image *img, const struct elf_file *f, const Elf64_Shdr *s,
			uint64_t *budget)
{
	Elf64_Rela *chunk = xcalloc(RELOC_CHUNK, sizeof(*chunk));
	uint64_t nr = s->sh_size / sizeof(*chunk), done = 0;
	size_t part, got;

	for (; done < nr && *budget; done += part) {
		part = nr - done < RELOC_CHUNK ? nr - done : RELOC_CHUNK;
		got = elf_file_read(f, s->sh_offset + done * sizeof(*chunk), chunk,
				    part * sizeof(*chunk)) /
		      sizeof(*chunk);
		for (size_t i = 0; i < got; i++)
			mark_reloc(img, f, s, &chunk[i]);
		*budget -= got < *budget ? got : *budget;
		if (got < part)
			break;
	}
	free(chunk);
}

bool entries_mark(struct image *img, const struct elf_file *f)
{
	uint64_t budget = MAX_RELOCS;

	for (size_t i = 0; i < img->nr; i++) {
		const struct image_range *r = &img->ranges[i];

		mark_words(img, r);
		if (r->marks && f->header.e_machine == EM_X86_64)
			entries_mark_x86(img, r);
		else if (r->marks)
			entries_mark_arm64(img, r);
	}
	for (size_t i = 0; i < f->nr_sections; i++) {
		const Elf64_Shdr *s = &f->sections[i];

		if (s->sh_type == SHT_RELA && (s->sh_flags & SHF_ALLOC))
			mark_relocs(img, f, s, &budget);
	}
	return budget;
}
