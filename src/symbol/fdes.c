/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading .eh_frame_hdr (Linux Standard Base, "Exception Frames"): a version, three encodings, the
 * address of .eh_frame, a count, then pairs of (function start, FDE address). Linkers write the one
 * form read here: a 4-byte count, and pairs of 4-byte offsets from the table's own address.
 */
#include "symbol/fdes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_FDES    4000000u /* 32 MB; the largest programs have a million */
#define ENC_UDATA4  0x03
#define ENC_SDATA4  0x0b
#define ENC_PCREL   0x10
#define ENC_DATAREL 0x30

struct header {
	uint8_t version, eh_frame_enc, count_enc, table_enc;
	int32_t eh_frame;
	uint32_t count;
};
_Static_assert(sizeof(struct header) == 12, "as in the file");

struct fdes_entry {
	int32_t start, fde; /* from the address of the table */
};

/*
 * The beginning of an FDE as all compilers write it: 4-byte length, addresses relative to
 * themselves.
 */
struct fde {
	uint32_t length, cie;
	int32_t start; /* from its own address */
	uint32_t range;
};

static const Elf64_Phdr *find_segment(const struct elf_file *file)
{
	for (size_t i = 0; i < file->nr_segments; i++)
		if (file->segments[i].p_type == PT_GNU_EH_FRAME)
			return &file->segments[i];
	return NULL;
}

static int is_ours(const struct header *h, const Elf64_Phdr *segment)
{
	uint64_t room = segment->p_filesz - sizeof(*h);

	return h->version == 1 && h->eh_frame_enc == (ENC_PCREL | ENC_SDATA4) &&
	       h->count_enc == ENC_UDATA4 && h->table_enc == (ENC_DATAREL | ENC_SDATA4) &&
	       h->count <= MAX_FDES && h->count <= room / sizeof(struct fdes_entry);
}

/* Linkers sort the table; one that is not sorted is of no use. */
static int is_sorted(const struct fdes *f)
{
	for (size_t i = 1; i < f->nr; i++)
		if (f->entries[i].start < f->entries[i - 1].start)
			return 0;
	return 1;
}

void fdes_load(struct fdes *f, const struct elf_file *file)
{
	const Elf64_Phdr *segment = find_segment(file);
	struct header h;
	size_t bytes;

	*f = (struct fdes){ .file = file };
	if (!segment || segment->p_filesz < sizeof(h) ||
	    elf_file_read(file, segment->p_offset, &h, sizeof(h)) != sizeof(h) ||
	    !is_ours(&h, segment))
		return;
	bytes = h.count * sizeof(*f->entries);
	f->vaddr = segment->p_vaddr;
	f->offset = segment->p_offset;
	f->nr = h.count;
	f->entries = xmalloc(bytes);
	if (elf_file_read(file, f->offset + sizeof(h), f->entries, bytes) != bytes || !is_sorted(f))
		fdes_release(f);
}

void fdes_release(struct fdes *f)
{
	free(f->entries);
	*f = (struct fdes){};
}

/*
 * Does the function of an entry reach as far as vaddr? Its FDE says; one that does not begin with
 * the very address that the table names is not of the usual form, and not believed.
 */
static int reaches(const struct fdes *f, const struct fdes_entry *e, uint64_t start, uint64_t vaddr)
{
	uint64_t here = f->vaddr + (int64_t)e->fde + offsetof(struct fde, start);
	struct fde fde;

	return elf_file_read(f->file, f->offset + (int64_t)e->fde, &fde, sizeof(fde)) ==
		       sizeof(fde) &&
	       here + (int64_t)fde.start == start && vaddr - start < fde.range;
}

static uint64_t start_of(const struct fdes *f, size_t i)
{
	return f->vaddr + (int64_t)f->entries[i].start;
}

uint64_t fdes_find(const struct fdes *f, uint64_t vaddr, uint64_t *next)
{
	size_t lo = 0, hi = f->nr, mid;
	uint64_t start;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (start_of(f, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return 0;
	start = start_of(f, lo - 1);
	if (next)
		*next = lo < f->nr ? start_of(f, lo) : 0;
	return reaches(f, &f->entries[lo - 1], start, vaddr) ? start : 0;
}
