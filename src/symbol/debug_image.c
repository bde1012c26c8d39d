/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An ELF file of DWARF sections and nothing else: header, section headers, names, contents. */
#include "symbol/debug_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "elf/section.h"
#include "symbol/debug_part.h"

#define MAX_BYTES (1ull << 30)

/* Not here: .debug_aranges (clang leaves it out), locations of variables, links to other files. */
static const char *const wanted[] = {
	".debug_info",	".debug_abbrev", ".debug_str",	    ".debug_str_offsets", ".debug_line",
	".debug_types", ".debug_ranges", ".debug_line_str", ".debug_rnglists",	  ".debug_addr",
};
#define NR_WANTED (sizeof(wanted) / sizeof(*wanted))
_Static_assert(NR_WANTED <= DEBUG_LAYOUT_MAX, "a layout has room for all");

struct debug_image {
	struct debug_layout *layout;
	size_t size;
	Elf *elf;
	Dwarf *dwarf;
};

bool debug_image_is_there(const struct elf_file *f)
{
	const Elf64_Shdr *s = section_find(f, ".debug_info");

	return s && s->sh_type != SHT_NOBITS && s->sh_size;
}

/* What the file does not have stays zero. */
static void fill(struct debug_image *i, const struct elf_file *f, const struct debug_part *parts)
{
	uint64_t at = DEBUG_LAYOUT_AT(sizeof(*i->layout));

	debug_layout_init(i->layout, f);
	for (size_t k = 0; k < NR_WANTED; k++) {
		if (!parts[k].from)
			continue;
		debug_layout_add(i->layout, wanted[k], at, parts[k].size);
		debug_part_read(f, &parts[k], (uint8_t *)i->layout + at);
		at = DEBUG_LAYOUT_AT(at + parts[k].size);
	}
}

/* What the sections take in all, more than MAX_BYTES where that is too much. */
static uint64_t find_parts(const struct elf_file *f, struct debug_part parts[NR_WANTED])
{
	uint64_t size = DEBUG_LAYOUT_AT(sizeof(struct debug_layout));

	for (size_t k = 0; k < NR_WANTED; k++) {
		if (!debug_part_find(f, wanted[k], &parts[k]))
			continue;
		if (parts[k].size > MAX_BYTES - size)
			return UINT64_MAX;
		size = DEBUG_LAYOUT_AT(size + parts[k].size);
	}
	return size > MAX_BYTES || !debug_part_is_paid_for(f, size) ? UINT64_MAX : size;
}

enum debug_image_unread debug_image_unread(const struct elf_file *f)
{
	struct debug_part parts[NR_WANTED] = {};

	for (size_t k = 0; k < NR_WANTED; k++)
		if (debug_part_is_foreign(f, wanted[k]))
			return DEBUG_IMAGE_PACKED;
	return find_parts(f, parts) > MAX_BYTES ? DEBUG_IMAGE_LARGE : DEBUG_IMAGE_NOTHING;
}

static bool make(struct debug_image *i, const struct elf_file *f)
{
	struct debug_part parts[NR_WANTED] = {};
	uint64_t size = find_parts(f, parts);

	if (size > MAX_BYTES || !parts[0].from || !parts[1].from)
		return false;
	i->size = size;
	i->layout = mmap(NULL, i->size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (i->layout == MAP_FAILED) {
		i->layout = NULL;
		return false;
	}
	fill(i, f, parts);
	return true;
}

struct debug_image *debug_image_new(const struct elf_file *f, struct debug_image *alt)
{
	struct debug_image *i = xcalloc(1, sizeof(*i));

	elf_version(EV_CURRENT);
	if (make(i, f))
		i->elf = elf_memory((char *)i->layout, i->size);
	if (i->elf)
		i->dwarf = dwarf_begin_elf(i->elf, DWARF_C_READ, NULL);
	if (!i->dwarf) {
		debug_image_free(i);
		return NULL;
	}
	if (alt)
		dwarf_setalt(i->dwarf, alt->dwarf);
	return i;
}

void debug_image_free(struct debug_image *i)
{
	if (!i)
		return;
	if (i->dwarf)
		dwarf_end(i->dwarf);
	if (i->elf)
		elf_end(i->elf);
	if (i->layout)
		munmap(i->layout, i->size);
	free(i);
}

Dwarf *debug_image_dwarf(const struct debug_image *i)
{
	return i->dwarf;
}

const uint8_t *debug_image_section(const struct debug_image *i, const char *name, size_t *sz)
{
	const struct debug_layout *l = i->layout;

	for (size_t k = 2; k < l->header.e_shnum; k++)
		if (!strcmp(l->names + l->sections[k].sh_name, name)) {
			*sz = l->sections[k].sh_size;
			return (const uint8_t *)l + l->sections[k].sh_offset;
		}
	return NULL;
}
