/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unpacks sections, and writes the headers of ELF files in memory. */
#include "symbol/debug_part.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include <zlib.h>

#include "elf/section.h"

#define MAX_RATIO 64 /* of what is unpacked to what lies on disk */

bool debug_part_of(const struct elf_file *f, const Elf64_Shdr *s, struct debug_part *p)
{
	Elf64_Chdr head;

	*p = (struct debug_part){};
	if (!s || s->sh_type == SHT_NOBITS || s->sh_offset >= f->size ||
	    s->sh_size > f->size - s->sh_offset)
		return false;
	if (!(s->sh_flags & SHF_COMPRESSED)) {
		*p = (struct debug_part){ s, s->sh_size, false };
		return true;
	}
	if (s->sh_size < sizeof(head) ||
	    elf_file_read(f, s->sh_offset, &head, sizeof(head)) != sizeof(head) ||
	    head.ch_type != ELFCOMPRESS_ZLIB)
		return false;
	*p = (struct debug_part){ s, head.ch_size, true };
	return true;
}

bool debug_part_find(const struct elf_file *f, const char *name, struct debug_part *p)
{
	return debug_part_of(f, section_find(f, name), p);
}

bool debug_part_is_foreign(const struct elf_file *f, const char *name)
{
	const Elf64_Shdr *s = section_find(f, name);
	Elf64_Chdr head;

	return s && s->sh_flags & SHF_COMPRESSED &&
	       elf_file_read(f, s->sh_offset, &head, sizeof(head)) == sizeof(head) &&
	       head.ch_type != ELFCOMPRESS_ZLIB;
}

/* Returns how much the stream filled. */
static uint64_t unpack(const struct elf_file *f, const struct debug_part *p, uint8_t *to)
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
	return p->size - z.avail_out;
}

uint64_t debug_part_read(const struct elf_file *f, const struct debug_part *p, uint8_t *to)
{
	return p->packed ? unpack(f, p, to) : elf_file_read(f, p->from->sh_offset, to, p->size);
}

bool debug_part_is_paid_for(const struct elf_file *f, uint64_t bytes)
{
	struct stat st;
	uint64_t disk = f->size;

	if (f->fd >= 0 && !fstat(f->fd, &st) && (uint64_t)st.st_blocks * 512 < disk)
		disk = st.st_blocks * 512;
	return bytes <= MAX_RATIO * (disk + 4096);
}

void debug_layout_init(struct debug_layout *l, const struct elf_file *f)
{
	*l = (struct debug_layout){ .header = { .e_type = ET_DYN,
						.e_machine = f->header.e_machine,
						.e_version = EV_CURRENT,
						.e_shoff = offsetof(struct debug_layout, sections),
						.e_ehsize = sizeof(l->header),
						.e_shentsize = sizeof(*l->sections),
						.e_shnum = 2,
						.e_shstrndx = 1 } };
	memcpy(l->header.e_ident, f->header.e_ident, sizeof(l->header.e_ident));
	l->sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				       .sh_offset = offsetof(struct debug_layout, names),
				       .sh_size = 1,
				       .sh_addralign = 1 };
}

void debug_layout_add(struct debug_layout *l, const char *name, uint64_t at, uint64_t size)
{
	uint64_t names = l->sections[1].sh_size, len = strlen(name) + 1;

	assert(l->header.e_shnum < DEBUG_LAYOUT_MAX + 2 && names + len <= sizeof(l->names));
	l->sections[l->header.e_shnum++] = (Elf64_Shdr){ .sh_name = names,
							 .sh_type = SHT_PROGBITS,
							 .sh_offset = at,
							 .sh_size = size,
							 .sh_addralign = 1 };
	memcpy(l->names + names, name, len);
	l->sections[1].sh_size += len;
}
