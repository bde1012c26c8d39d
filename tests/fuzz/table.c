/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables of any bytes: an ELF file, or else the contents of a section of call frame
 * information, which is put into a file here (its first byte says which section and machine). What
 * comes out must be a table as bpf/table.h has it.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/limits.h"
#include "unwind/rule.h"
#include "unwind/table.h"

#define TEXT_SIZE  (16u << 10) /* before the section, where its functions may lie */
#define TEXT_VADDR 0x10000

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[32];
	uint8_t text[TEXT_SIZE];
	uint8_t contents[];
};

static const char names[32] = "\0.eh_frame\0.debug_frame";

static void fill_image(struct image *i, uint8_t flags, size_t sz)
{
	Elf64_Ehdr *h = &i->header;

	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_machine = flags & 1 ? EM_AARCH64 : EM_X86_64;
	h->e_phoff = offsetof(struct image, segment);
	h->e_phnum = 1;
	h->e_phentsize = sizeof(i->segment);
	h->e_shoff = offsetof(struct image, sections);
	h->e_shnum = 3;
	h->e_shentsize = sizeof(*i->sections);
	h->e_shstrndx = 2;
	i->segment = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_vaddr = TEXT_VADDR,
				   .p_filesz = sizeof(*i) + sz };
	i->sections[1] = (Elf64_Shdr){ .sh_name = flags & 2 ? 11 : 1,
				       .sh_type = SHT_PROGBITS,
				       .sh_addr = TEXT_VADDR + sizeof(*i),
				       .sh_offset = sizeof(*i),
				       .sh_size = sz };
	i->sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				       .sh_offset = offsetof(struct image, names),
				       .sh_size = sizeof(names) };
	memcpy(i->names, names, sizeof(names));
}

static void check_rule(const struct table *t, uint32_t rule)
{
	assert(rule <= ROW_RULE_MASK);
	if (t->arch == TABLE_X86 && RULE_X86_KIND(rule) == 1)
		assert(table_exception(t, rule));
	if (t->arch == TABLE_ARM64 && RULE_ARM64_MODE(rule) == MODE_EXCEPTION)
		assert(table_exception(t, rule));
	assert(t->arch == TABLE_ARM64 || RULE_X86_KIND(rule) < 3);
}

static void check_page(const struct table *t, const struct table_page *p, uint64_t start)
{
	uint32_t nr = p->rule_count & TABLE_MAX_ROWS, last = 0;

	check_rule(t, p->rule_count >> 10);
	assert(p->rows + nr <= t->nr_words);
	if (nr)
		assert(p->rows / TABLE_SEGMENT_WORDS == (p->rows + nr - 1) / TABLE_SEGMENT_WORDS);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = t->words[p->rows + i], offset = row >> ROW_RULE_BITS;

		assert(offset > last);
		last = offset;
		check_rule(t, row & ROW_RULE_MASK);
		assert(table_rule(t, start + (offset << TABLE_UNIT_SHIFT(t->arch))) ==
		       (row & ROW_RULE_MASK));
	}
}

static void check_table(const struct table *t)
{
	const struct table_page *pages = (const struct table_page *)t->words;
	unsigned int shift = TABLE_PAGE_SHIFT(t->arch);

	assert(t->nr_words && t->nr_pages);
	assert(!(t->exceptions % TABLE_EXCEPTION_WORDS));
	assert(t->exceptions + t->nr_exceptions * TABLE_EXCEPTION_WORDS == t->nr_words);
	for (uint32_t i = 0; i < t->nr_pages; i++)
		check_page(t, &pages[i], (t->first_page + i) << shift);
	assert(table_rule(t, (t->first_page << shift) - 1) == rule_special(t->arch, RULE_NONE));
	for (uint64_t vaddr = 1; vaddr; vaddr <<= 1)
		check_rule(t, table_rule(t, vaddr));
}

static void check_image(const void *bytes, size_t sz)
{
	struct elf_file *f = elf_file_open_image(bytes, sz);
	struct table t;

	if (!f)
		return;
	if (!table_build(&t, f, NULL))
		check_table(&t);
	table_release(&t);
	if (!table_build_vdso(&t, f, NULL))
		check_table(&t);
	table_release(&t);
	elf_file_close(f);
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	struct image *i;

	if (!sz)
		return 0;
	if (sz >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG)) {
		check_image(data, sz);
		return 0;
	}
	i = calloc(1, sizeof(*i) + sz - 1);
	fill_image(i, data[0], sz - 1);
	memcpy(i->contents, data + 1, sz - 1);
	check_image(i, sizeof(*i) + sz - 1);
	free(i);
	return 0;
}
