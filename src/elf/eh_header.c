/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading .eh_frame_hdr. */
#include "elf/eh_header.h"

/* DW_EH_PE_*: how a number is written, and what it is relative to. */
#define ENC_UDATA4  0x03
#define ENC_SDATA4  0x0b
#define ENC_PCREL   0x10
#define ENC_DATAREL 0x30

struct header {
	uint8_t version, eh_frame_enc, count_enc, table_enc;
	int32_t eh_frame;
	uint32_t count; /* not there without a table */
};
_Static_assert(sizeof(struct header) == 12, "as in the file");
_Static_assert(sizeof(struct eh_header_row) == 8, "as in the file");

static const Elf64_Phdr *find_segment(const struct elf_file *f)
{
	for (size_t i = 0; i < f->nr_segments; i++)
		if (f->segments[i].p_type == PT_GNU_EH_FRAME)
			return &f->segments[i];
	return NULL;
}

/* How many rows there are room for: of the segment, and of the file. */
static uint64_t most_rows(const struct eh_header *h, const struct elf_file *f,
			  const Elf64_Phdr *segment)
{
	uint64_t bytes = segment->p_filesz - sizeof(struct header);

	if (h->rows >= f->size)
		return 0;
	if (bytes > f->size - h->rows)
		bytes = f->size - h->rows;
	return bytes / sizeof(struct eh_header_row);
}

bool eh_header_read(struct eh_header *h, const struct elf_file *f)
{
	const Elf64_Phdr *segment = find_segment(f);
	struct header in = {};
	size_t got;

	*h = (struct eh_header){};
	if (!segment)
		return false;
	got = elf_file_read(f, segment->p_offset, &in,
			    segment->p_filesz < sizeof(in) ? segment->p_filesz : sizeof(in));
	if (got < offsetof(struct header, count) || in.version != 1 ||
	    in.eh_frame_enc != (ENC_PCREL | ENC_SDATA4))
		return false;
	h->vaddr = segment->p_vaddr;
	h->offset = segment->p_offset;
	h->eh_frame = h->vaddr + offsetof(struct header, eh_frame) + (uint64_t)(int64_t)in.eh_frame;
	h->rows = h->offset + sizeof(in);
	if (got == sizeof(in) && in.count_enc == ENC_UDATA4 &&
	    in.table_enc == (ENC_DATAREL | ENC_SDATA4) && in.count <= most_rows(h, f, segment))
		h->nr_rows = in.count;
	return true;
}
