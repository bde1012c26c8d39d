/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The procedure linkage table: short pieces of code through which a file calls other files'
 * functions, "memcmp@plt". Symbol tables leave them out. Each jumps by a slot of the global offset
 * table, and a relocation says which function the linker puts there; so it is the code that is
 * read, not the order of entries, in which linkers differ. x86-64 and aarch64.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/section.h"
#include "elf/strtab.h"
#include "symbol/source.h"

#define MAX_RELOCATIONS 8000000u /* read of all sections; the largest programs have a million */
#define MAX_SLOTS	200000u	 /* kept, of functions */
#define CHUNK		1024
#define MAX_NAME	65536u
#define LONGEST_ENTRY	24u

/* bti c; adrp x16, PAGE; ldr x17, [x16, OFFSET] */
#define ARM_BTI_C      0xd503245fu
#define ARM_IS_ADRP(x) (((x)&0x9f00001fu) == 0x90000010u)
#define ARM_IS_LDR(x)  (((x)&0xffc003ffu) == 0xf9400211u)

struct slot {
	uint64_t vaddr;
	uint32_t symbol; /* its number in the table … */
	uint32_t table;	 /* … of this section */
};

struct plt {
	const struct elf_file *file;
	const Elf64_Shdr *sections[3];
	struct slot *slots; /* by address */
	size_t nr, cap, nr_read;
	bool loaded;
	char name[MAX_NAME + sizeof("@plt")];
};

/* Does a relocation fill a slot with the address of a function? */
static bool is_slot(const struct elf_file *f, const Elf64_Rela *r)
{
	uint32_t type = ELF64_R_TYPE(r->r_info);

	if (!ELF64_R_SYM(r->r_info))
		return false;
	if (f->header.e_machine == EM_AARCH64)
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

static void read_slots(struct plt *p, const Elf64_Shdr *s)
{
	uint64_t nr = s->sh_size / sizeof(Elf64_Rela), done = 0;
	Elf64_Rela chunk[CHUNK];
	size_t part;

	for (; done < nr && p->nr_read < MAX_RELOCATIONS; done += part, p->nr_read += part) {
		part = elf_file_read(p->file, s->sh_offset + done * sizeof(*chunk), chunk,
				     sizeof(chunk)) /
		       sizeof(*chunk);
		if (!part)
			break;
		for (size_t i = 0; i < part && i < nr - done; i++) {
			if (!is_slot(p->file, &chunk[i]) || p->nr == MAX_SLOTS)
				continue;
			p->slots = xgrow(p->slots, p->nr, &p->cap, sizeof(*p->slots));
			p->slots[p->nr++] =
				(struct slot){ chunk[i].r_offset, ELF64_R_SYM(chunk[i].r_info),
					       s->sh_link };
		}
	}
}

static int slot_compare(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

static void load(struct plt *p)
{
	for (size_t i = 0; i < p->file->nr_sections; i++)
		if (p->file->sections[i].sh_type == SHT_RELA)
			read_slots(p, &p->file->sections[i]);
	if (p->nr)
		qsort(p->slots, p->nr, sizeof(*p->slots), slot_compare);
	p->loaded = true;
}

/* What the linker puts into a slot, "NAME@plt"; NULL when that has no name. */
static const char *name_of_slot(struct plt *p, uint64_t vaddr)
{
	const struct slot key = { .vaddr = vaddr }, *slot = NULL;
	const struct elf_file *f = p->file;
	const Elf64_Shdr *symbols;
	struct strtab names;
	Elf64_Sym sym;
	ssize_t len;

	if (p->nr)
		slot = bsearch(&key, p->slots, p->nr, sizeof(key), slot_compare);
	if (!slot || slot->table >= f->nr_sections)
		return NULL;
	symbols = &f->sections[slot->table];
	if (symbols->sh_link >= f->nr_sections || slot->symbol >= symbols->sh_size / sizeof(sym) ||
	    elf_file_read(f, symbols->sh_offset + (uint64_t)slot->symbol * sizeof(sym), &sym,
			  sizeof(sym)) != sizeof(sym))
		return NULL;
	strtab_init(&names, f, f->sections[symbols->sh_link].sh_offset,
		    f->sections[symbols->sh_link].sh_size);
	len = strtab_copy(&names, sym.st_name, p->name, MAX_NAME);
	strtab_release(&names);
	if (len <= 0 || len >= (ssize_t)MAX_NAME)
		return NULL;
	return strcat(p->name, "@plt");
}

/*
 * A piece of a section around what is asked for; at: where in it that lies, in bytes. What is not
 * there is zero.
 */
struct window {
	uint8_t code[2 * LONGEST_ENTRY];
	uint64_t vaddr;
	size_t at;
};

static void window_read(struct window *w, const struct elf_file *f, const Elf64_Shdr *s,
			uint64_t vaddr)
{
	uint64_t at = (vaddr - s->sh_addr) & ~3ull;
	uint64_t from = at < LONGEST_ENTRY ? 0 : at - LONGEST_ENTRY;
	uint64_t left = s->sh_size - from;

	*w = (struct window){ .vaddr = s->sh_addr + from, .at = at - from };
	elf_file_read(f, s->sh_offset + from, w->code,
		      left < sizeof(w->code) ? left : sizeof(w->code));
}

static uint32_t word_at(const struct window *w, size_t at)
{
	uint32_t word = 0;

	if (at + sizeof(word) <= sizeof(w->code))
		memcpy(&word, w->code + at, sizeof(word));
	return word;
}

/* The address adrp and ldr make. */
static uint64_t arm_slot(const struct window *w, size_t at)
{
	uint32_t adrp = word_at(w, at), ldr = word_at(w, at + 4);
	uint32_t pages = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	uint64_t base = (w->vaddr + at) & ~0xfffull;

	return base + ((int64_t)(int32_t)(pages << 11) >> 11) * 4096 + (ldr >> 10 & 0xfff) * 8;
}

/* Entries have 16 or 24 bytes and differ in what stands around the load: the one before counts. */
static uint64_t arm_find(const struct elf_file *f, const Elf64_Shdr *s, uint64_t vaddr,
			 uint64_t *start)
{
	struct window w;
	size_t at;

	window_read(&w, f, s, vaddr);
	at = w.at;
	if (word_at(&w, at) == ARM_BTI_C)
		at += 4;
	for (size_t back = 0; back < LONGEST_ENTRY && back <= at; back += 4) {
		size_t load = at - back;

		if (!ARM_IS_ADRP(word_at(&w, load)) || !ARM_IS_LDR(word_at(&w, load + 4)))
			continue;
		*start = w.vaddr + load;
		if (load >= 4 && word_at(&w, load - 4) == ARM_BTI_C)
			*start -= 4;
		return arm_slot(&w, load);
	}
	return 0;
}

/* The first "jmp *DISPLACEMENT(%rip)" of the entry. */
static uint64_t x86_find(const struct elf_file *f, const Elf64_Shdr *s, uint64_t vaddr,
			 uint64_t *start)
{
	uint64_t entry_sz = s->sh_entsize == 8 ? 8 : 16;
	uint64_t from = (vaddr - s->sh_addr) / entry_sz * entry_sz;
	uint8_t code[16];
	size_t sz = elf_file_read(f, s->sh_offset + from, code, entry_sz);
	int32_t displacement;

	*start = s->sh_addr + from;
	for (size_t i = 0; i + 6 <= sz; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&displacement, code + i + 2, sizeof(displacement));
		return *start + i + 6 + displacement;
	}
	return 0;
}

/* Where nothing is known, as far as no table begins. */
static void say_gap(const struct plt *p, uint64_t address, uint64_t vaddr,
		    struct symbol_found *found)
{
	uint64_t low = 0, high = UINT64_MAX;

	for (size_t i = 0; i < sizeof(p->sections) / sizeof(*p->sections); i++) {
		const Elf64_Shdr *s = p->sections[i];

		if (!s || !s->sh_size)
			continue;
		if (s->sh_addr > vaddr)
			high = s->sh_addr < high ? s->sh_addr : high;
		else if (vaddr - s->sh_addr < s->sh_size)
			return;
		else
			low = s->sh_addr + s->sh_size > low ? s->sh_addr + s->sh_size : low;
	}
	elf_file_part(p->file, address, low, high, &found->from, &found->to);
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	struct plt *p = source;
	uint64_t vaddr, slot, start = 0;
	const char *name;

	if (!elf_file_vaddr(p->file, address, &vaddr))
		return false;
	say_gap(p, address, vaddr, found);
	for (size_t i = 0; i < sizeof(p->sections) / sizeof(*p->sections); i++) {
		const Elf64_Shdr *s = p->sections[i];

		if (!s || vaddr < s->sh_addr || vaddr - s->sh_addr >= s->sh_size)
			continue;
		if (!p->loaded)
			load(p);
		slot = p->file->header.e_machine == EM_AARCH64
			       ? arm_find(p->file, s, vaddr, &start)
			       : x86_find(p->file, s, vaddr, &start);
		name = slot ? name_of_slot(p, slot) : NULL;
		if (!name)
			return false;
		found->chain[found->nr++].name = name;
		found->start = start;
		return true;
	}
	return false;
}

static void *open_plt(const struct symbol_module *m)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
	struct plt *p;

	if (!m->file ||
	    (m->file->header.e_machine != EM_X86_64 && m->file->header.e_machine != EM_AARCH64))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->file = m->file;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		p->sections[i] = section_find(m->file, names[i]);
	return p;
}

static void close_plt(void *source)
{
	struct plt *p = source;

	free(p->slots);
	free(p);
}

const struct symbol_source_ops symbol_source_plt = {
	"procedure linkage table", SYMBOL_STUBS, FRAME_USER, open_plt, find, close_plt,
};
