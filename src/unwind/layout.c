/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds code and sections; segments for what runs, sections by name where there are such. */
#include "unwind/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_NAME_BYTES (1u << 20) /* of all sections */

static const char *const names[NR_SECTIONS] = {
	[SECTION_TEXT] = ".text",	  [SECTION_GOT_PLT] = ".got.plt",
	[SECTION_EH_FRAME] = ".eh_frame", [SECTION_DEBUG_FRAME] = ".debug_frame",
	[SECTION_SYMTAB] = ".symtab",	  [SECTION_PLT] = ".plt",
	[SECTION_PLT_SEC] = ".plt.sec",	  [SECTION_PLT_GOT] = ".plt.got",
	[SECTION_IPLT] = ".iplt",
};

/* As far as the file and the address space reach. */
static struct range make_range(const struct elf_file *f, uint64_t vaddr, uint64_t offset,
			       uint64_t sz)
{
	if (offset >= f->size)
		sz = 0;
	else if (sz > f->size - offset)
		sz = f->size - offset;
	if (sz > UINT64_MAX - vaddr)
		sz = 0;
	return (struct range){ vaddr, vaddr + sz, offset };
}

static struct range segment_range(const struct elf_file *f, const Elf64_Phdr *s)
{
	return make_range(f, s->p_vaddr, s->p_offset, s->p_filesz);
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Segments that overlap are made not to: the later one keeps what the one before leaves. */
static void make_disjoint(struct layout *l)
{
	uint64_t from = 0;
	size_t kept = 0;

	qsort(l->code, l->nr_code, sizeof(*l->code), by_start);
	for (size_t i = 0; i < l->nr_code; i++) {
		struct range r = l->code[i];

		if (r.end <= from)
			continue;
		if (r.start < from) {
			r.offset += from - r.start;
			r.start = from;
		}
		from = r.end;
		l->code[kept++] = r;
	}
	l->nr_code = kept;
}

static void find_code(struct layout *l)
{
	const struct elf_file *f = l->file;

	l->code = xcalloc(f->nr_segments, sizeof(*l->code));
	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *s = &f->segments[i];
		struct range r = segment_range(f, s);

		if (s->p_type == PT_LOAD && (s->p_flags & PF_X) && r.start < r.end)
			l->code[l->nr_code++] = r;
	}
	make_disjoint(l);
}

static void note_section(struct layout *l, const Elf64_Shdr *s, const char *name)
{
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		struct range *r = &l->sections[i];

		if (r->start < r->end || strcmp(name, names[i]))
			continue;
		if (s->sh_flags & SHF_COMPRESSED && i != SECTION_DEBUG_FRAME)
			continue;
		if (i == SECTION_DEBUG_FRAME)
			l->debug_frame_is_compressed = s->sh_flags & SHF_COMPRESSED;
		*r = make_range(l->file, s->sh_addr, s->sh_offset, s->sh_size);
	}
}

static void find_sections(struct layout *l)
{
	const struct elf_file *f = l->file;
	uint16_t strings = f->header.e_shstrndx;
	size_t sz;
	char *text;

	if (strings >= f->nr_sections)
		return;
	sz = f->sections[strings].sh_size;
	sz = sz < MAX_NAME_BYTES ? sz : MAX_NAME_BYTES;
	text = xcalloc(sz + 1, 1);
	elf_file_read(f, f->sections[strings].sh_offset, text, sz);
	for (size_t i = 0; i < f->nr_sections; i++) {
		const Elf64_Shdr *s = &f->sections[i];

		if (s->sh_name < sz && s->sh_type != SHT_NOBITS)
			note_section(l, s, text + s->sh_name);
	}
	free(text);
}

int layout_init(struct layout *l, const struct elf_file *file)
{
	*l = (struct layout){ .file = file };
	if (file->header.e_machine == EM_X86_64)
		l->arch = TABLE_X86;
	else if (file->header.e_machine == EM_AARCH64)
		l->arch = TABLE_ARM64;
	else
		return -ENOEXEC;
	find_code(l);
	if (!l->nr_code)
		return -ENODATA;
	find_sections(l);
	return 0;
}

void layout_release(struct layout *l)
{
	free(l->code);
	*l = (struct layout){};
}

const struct range *layout_code(const struct layout *l, uint64_t vaddr)
{
	size_t lo = 0, hi = l->nr_code, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (l->code[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < l->code[lo - 1].end ? &l->code[lo - 1] : NULL;
}

struct range layout_rest(const struct layout *l, uint64_t vaddr)
{
	const struct elf_file *f = l->file;

	for (size_t i = 0; i < f->nr_segments; i++) {
		struct range r = segment_range(f, &f->segments[i]);

		if (f->segments[i].p_type != PT_LOAD || vaddr < r.start || vaddr >= r.end)
			continue;
		return (struct range){ vaddr, r.end, r.offset + (vaddr - r.start) };
	}
	return (struct range){};
}

size_t layout_read(const struct layout *l, uint64_t vaddr, void *buf, size_t sz)
{
	const struct range *r = layout_code(l, vaddr);

	if (!r)
		return 0;
	if (sz > r->end - vaddr)
		sz = r->end - vaddr;
	return elf_file_read(l->file, r->offset + (vaddr - r->start), buf, sz);
}
