/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ELF images made in memory, of code, data, symbols, relocations and notes. Code is linked to
 * CODE_VADDR and data to DATA_VADDR, neither of which is its offset in the file plus a page number.
 */
#ifndef BPFPROF_TESTS_UNIT_MADE_ELF_H
#define BPFPROF_TESTS_UNIT_MADE_ELF_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CODE_OFFSET 0x1000
#define CODE_VADDR  0x403040
#define CODE_SIZE   0x1000
#define DATA_OFFSET 0x2000
#define DATA_VADDR  0x605080
#define DATA_SIZE   0x1000

enum made_section { NONE, TEXT, DATA, SYMTAB, STRTAB, RELA, NOTES, BASE, NAMES, NR_SECTIONS };

#define MADE_SYMBOLS 0x3000 /* where in the file */
#define MADE_STRINGS 0x4000
#define MADE_RELA    0x5000
#define MADE_NOTES   0x6000
#define MADE_NAMES   0x7000
#define MADE_SIZE    0x8000

struct made_elf {
	uint8_t bytes[MADE_SIZE];
	size_t nr_symbols, strings_sz, nr_rela, notes_sz;
};

static inline Elf64_Shdr *made_sections(struct made_elf *m)
{
	return (Elf64_Shdr *)(m->bytes + sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr));
}

static inline void made_section(struct made_elf *m, enum made_section which, uint32_t type,
				uint64_t flags, uint64_t vaddr, uint64_t offset, uint64_t size,
				const char *name)
{
	static const uint64_t entry_sizes[NR_SECTIONS] = {
		[SYMTAB] = sizeof(Elf64_Sym), [RELA] = sizeof(Elf64_Rela)
	};

	made_sections(m)[which] = (Elf64_Shdr){ .sh_name = 32 * which,
						.sh_type = type,
						.sh_flags = flags,
						.sh_addr = vaddr,
						.sh_offset = offset,
						.sh_size = size,
						.sh_link = which == SYMTAB ? STRTAB : SYMTAB,
						.sh_entsize = entry_sizes[which] };
	strcpy((char *)m->bytes + MADE_NAMES + 32 * which, name);
}

static inline void made_init(struct made_elf *m, uint16_t machine)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)m->bytes;
	Elf64_Phdr *p = (Elf64_Phdr *)(h + 1);

	memset(m, 0, sizeof(*m));
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_type = ET_DYN;
	h->e_machine = machine;
	h->e_phoff = sizeof(*h);
	h->e_phnum = 2;
	h->e_phentsize = sizeof(*p);
	h->e_shoff = sizeof(*h) + 2 * sizeof(*p);
	h->e_shnum = NR_SECTIONS;
	h->e_shentsize = sizeof(Elf64_Shdr);
	h->e_shstrndx = NAMES;
	p[0] = (Elf64_Phdr){ PT_LOAD,	 PF_R | PF_X, CODE_OFFSET, CODE_VADDR,
			     CODE_VADDR, CODE_SIZE,   CODE_SIZE,   1 };
	p[1] = (Elf64_Phdr){ PT_LOAD,	 PF_R | PF_W, DATA_OFFSET, DATA_VADDR,
			     DATA_VADDR, DATA_SIZE,   DATA_SIZE,   1 };
	made_section(m, TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE_VADDR, CODE_OFFSET,
		     CODE_SIZE, ".text");
	made_section(m, DATA, SHT_PROGBITS, SHF_ALLOC, DATA_VADDR, DATA_OFFSET, DATA_SIZE, ".data");
	made_section(m, SYMTAB, SHT_SYMTAB, 0, 0, MADE_SYMBOLS, 0, ".symtab");
	made_section(m, STRTAB, SHT_STRTAB, 0, 0, MADE_STRINGS, 0, ".strtab");
	made_section(m, RELA, SHT_RELA, SHF_ALLOC, 0, MADE_RELA, 0, ".rela.dyn");
	made_section(m, NOTES, SHT_NOTE, 0, 0, MADE_NOTES, 0, ".note.stapsdt");
	made_section(m, BASE, SHT_PROGBITS, SHF_ALLOC, DATA_VADDR, DATA_OFFSET, 1, ".stapsdt.base");
	made_section(m, NAMES, SHT_STRTAB, 0, 0, MADE_NAMES, 32 * NR_SECTIONS, ".shstrtab");
	m->strings_sz = 1;
}

/* at: from the beginning of the code. */
static inline void made_symbol(struct made_elf *m, const char *name, uint64_t at, uint64_t size,
			       unsigned int bind, unsigned int type)
{
	Elf64_Sym *sym = (Elf64_Sym *)(m->bytes + MADE_SYMBOLS) + m->nr_symbols++;

	*sym = (Elf64_Sym){ .st_name = m->strings_sz,
			    .st_info = ELF64_ST_INFO(bind, type),
			    .st_shndx = TEXT,
			    .st_value = CODE_VADDR + at,
			    .st_size = size };
	strcpy((char *)m->bytes + MADE_STRINGS + m->strings_sz, name);
	m->strings_sz += strlen(name) + 1;
	made_sections(m)[SYMTAB].sh_size = m->nr_symbols * sizeof(*sym);
	made_sections(m)[STRTAB].sh_size = m->strings_sz;
}

static inline void made_code(struct made_elf *m, uint64_t at, const void *bytes, size_t sz)
{
	memcpy(m->bytes + CODE_OFFSET + at, bytes, sz);
}

static inline void made_data(struct made_elf *m, uint64_t at, const void *bytes, size_t sz)
{
	memcpy(m->bytes + DATA_OFFSET + at, bytes, sz);
}

static inline void made_rela(struct made_elf *m, uint32_t type, int64_t addend)
{
	Elf64_Rela *r = (Elf64_Rela *)(m->bytes + MADE_RELA) + m->nr_rela++;

	*r = (Elf64_Rela){ DATA_VADDR, ELF64_R_INFO(0, type), addend };
	made_sections(m)[RELA].sh_size = m->nr_rela * sizeof(*r);
}

/* strings: provider, name and arguments, each with its NUL, len bytes. */
static inline void made_note(struct made_elf *m, uint64_t where, uint64_t base, uint64_t semaphore,
			     const char *strings, size_t len)
{
	uint8_t *at = m->bytes + MADE_NOTES + m->notes_sz;
	uint64_t words[3] = { where, base, semaphore };
	Elf64_Nhdr h = { 8, sizeof(words) + len, 3 };

	memcpy(at, &h, sizeof(h));
	memcpy(at + 12, "stapsdt", 8);
	memcpy(at + 20, words, sizeof(words));
	memcpy(at + 44, strings, len);
	m->notes_sz += 20 + ((h.n_descsz + 3) & ~3u);
	made_sections(m)[NOTES].sh_size = m->notes_sz;
}

#endif
