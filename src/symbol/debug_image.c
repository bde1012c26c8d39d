/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An ELF file of DWARF sections and nothing else: header, section headers, names, contents. */
#include "symbol/debug_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <zlib.h>

#include "base/mem.h"
#include "elf/section.h"

#define MAX_BYTES  (1ull << 30)
#define MAX_RATIO  64 /* of what is unpacked to what lies on disk */
#define ALIGNED(x) (((x) + 15) & ~15ull)

/* Not here: .debug_aranges (clang leaves it out), locations of variables, links to other files. */
static const char *const wanted[] = {
	".debug_info",	".debug_abbrev", ".debug_str",	    ".debug_str_offsets", ".debug_line",
	".debug_types", ".debug_ranges", ".debug_line_str", ".debug_rnglists",	  ".debug_addr",
};
#define NR_WANTED (sizeof(wanted) / sizeof(*wanted))

struct part {
	const Elf64_Shdr *from;
	uint64_t size; /* unpacked */
	bool packed;
};

struct layout {
	Elf64_Ehdr header;
	Elf64_Shdr sections[NR_WANTED + 2]; /* behind none: names, then those wanted */
	char names[256];
};

struct debug_image {
	struct layout *layout;
	size_t size;
	Elf *elf;
	Dwarf *dwarf;
};

bool debug_image_is_there(const struct elf_file *f)
{
	const Elf64_Shdr *s = section_find(f, ".debug_info");

	return s && s->sh_type != SHT_NOBITS && s->sh_size;
}

/* False: not to be used. */
static bool part_find(const struct elf_file *f, const char *name, struct part *p)
{
	const Elf64_Shdr *s = section_find(f, name);
	Elf64_Chdr head;

	if (!s || s->sh_type == SHT_NOBITS || s->sh_offset >= f->size ||
	    s->sh_size > f->size - s->sh_offset)
		return false;
	*p = (struct part){ s, s->sh_size, s->sh_flags & SHF_COMPRESSED };
	if (!p->packed)
		return true;
	if (s->sh_size < sizeof(head) ||
	    elf_file_read(f, s->sh_offset, &head, sizeof(head)) != sizeof(head) ||
	    head.ch_type != ELFCOMPRESS_ZLIB)
		return false;
	p->size = head.ch_size;
	return true;
}

/* What the stream does not fill stays zero. */
static void unpack(const struct elf_file *f, const struct part *p, uint8_t *to)
{
	uint64_t at = p->from->sh_offset + sizeof(Elf64_Chdr),
		 end = p->from->sh_offset + p->from->sh_size;
	z_stream z = { .next_out = to, .avail_out = p->size };
	uint8_t chunk[65536];
	int err = inflateInit(&z);

	while (err == Z_OK && at < end && z.avail_out) {
		size_t sz = end - at < sizeof(chunk) ? end - at : sizeof(chunk);

		z.next_in = chunk;
		z.avail_in = elf_file_read(f, at, chunk, sz);
		if (!z.avail_in)
			break;
		at += z.avail_in;
		err = inflate(&z, Z_NO_FLUSH);
	}
	inflateEnd(&z);
}

static void fill(struct debug_image *i, const struct elf_file *f, const struct part *parts)
{
	struct layout *l = i->layout;
	uint64_t at = ALIGNED(sizeof(*l));
	size_t names = 1, nr = 2;

	for (size_t k = 0; k < NR_WANTED; k++) {
		uint8_t *to = (uint8_t *)l + at;

		if (!parts[k].from)
			continue;
		l->sections[nr++] = (Elf64_Shdr){ .sh_name = names,
						  .sh_type = SHT_PROGBITS,
						  .sh_offset = at,
						  .sh_size = parts[k].size,
						  .sh_addralign = 1 };
		strcpy(l->names + names, wanted[k]);
		names += strlen(wanted[k]) + 1;
		if (parts[k].packed)
			unpack(f, &parts[k], to);
		else
			elf_file_read(f, parts[k].from->sh_offset, to, parts[k].size);
		at = ALIGNED(at + parts[k].size);
	}
	l->header.e_shnum = nr;
}

static void fill_header(struct layout *l, const struct elf_file *f)
{
	l->header = (Elf64_Ehdr){ .e_type = ET_DYN,
				  .e_machine = f->header.e_machine,
				  .e_version = EV_CURRENT,
				  .e_shoff = offsetof(struct layout, sections),
				  .e_ehsize = sizeof(l->header),
				  .e_shentsize = sizeof(*l->sections),
				  .e_shstrndx = 1 };
	memcpy(l->header.e_ident, f->header.e_ident, sizeof(l->header.e_ident));
	l->sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				       .sh_offset = offsetof(struct layout, names),
				       .sh_size = sizeof(l->names),
				       .sh_addralign = 1 };
}

/* A few blocks must not cost a gigabyte: holes in a file, or data made to be packed well. */
static bool is_paid_for(const struct elf_file *f, uint64_t bytes)
{
	struct stat st;
	uint64_t disk = f->size;

	if (f->fd >= 0 && !fstat(f->fd, &st) && (uint64_t)st.st_blocks * 512 < disk)
		disk = st.st_blocks * 512;
	return bytes <= MAX_RATIO * (disk + 4096);
}

/* What the sections take in all, more than MAX_BYTES where that is too much. */
static uint64_t find_parts(const struct elf_file *f, struct part parts[NR_WANTED])
{
	uint64_t size = ALIGNED(sizeof(struct layout));

	for (size_t k = 0; k < NR_WANTED; k++) {
		if (!part_find(f, wanted[k], &parts[k]))
			continue;
		if (parts[k].size > MAX_BYTES - size)
			return UINT64_MAX;
		size = ALIGNED(size + parts[k].size);
	}
	return size > MAX_BYTES || !is_paid_for(f, size) ? UINT64_MAX : size;
}

static bool is_packed_otherwise(const struct elf_file *f, const char *name)
{
	const Elf64_Shdr *s = section_find(f, name);
	Elf64_Chdr head;

	return s && s->sh_flags & SHF_COMPRESSED &&
	       elf_file_read(f, s->sh_offset, &head, sizeof(head)) == sizeof(head) &&
	       head.ch_type != ELFCOMPRESS_ZLIB;
}

enum debug_image_unread debug_image_unread(const struct elf_file *f)
{
	struct part parts[NR_WANTED] = {};

	for (size_t k = 0; k < NR_WANTED; k++)
		if (is_packed_otherwise(f, wanted[k]))
			return DEBUG_IMAGE_PACKED;
	return find_parts(f, parts) > MAX_BYTES ? DEBUG_IMAGE_LARGE : DEBUG_IMAGE_NOTHING;
}

static bool make(struct debug_image *i, const struct elf_file *f)
{
	struct part parts[NR_WANTED] = {};
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
	fill_header(i->layout, f);
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
	const struct layout *l = i->layout;

	for (size_t k = 2; k < l->header.e_shnum; k++)
		if (!strcmp(l->names + l->sections[k].sh_name, name)) {
			*sz = l->sections[k].sh_size;
			return (const uint8_t *)l + l->sections[k].sh_offset;
		}
	return NULL;
}
