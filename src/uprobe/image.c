/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies segments; nothing is mapped, since the owner of the file may truncate it. */
#include "uprobe/image.h"

#include <stdlib.h>

#include "base/mem.h"

#define MAX_BYTES  (1ull << 30)
#define MAX_RANGES 64

static bool take_segment(struct image *img, const struct elf_file *f, const Elf64_Phdr *s,
			 uint64_t *budget)
{
	struct image_range *r = &img->ranges[img->nr];

	if (s->p_type != PT_LOAD || !s->p_filesz || s->p_offset >= f->size)
		return true;
	r->start = s->p_vaddr;
	r->sz = s->p_filesz < f->size - s->p_offset ? s->p_filesz : f->size - s->p_offset;
	if (r->sz > *budget || img->nr == MAX_RANGES || r->start > UINT64_MAX / 2)
		return false;
	*budget -= r->sz;
	r->bytes = xcalloc(r->sz + IMAGE_PADDING, 1);
	r->sz = elf_file_read(f, s->p_offset, r->bytes, r->sz);
	if (s->p_flags & PF_X)
		r->marks = xcalloc(r->sz / 64 + 1, sizeof(*r->marks));
	img->nr++;
	return true;
}

bool image_load(struct image *img, const struct elf_file *f)
{
	uint64_t budget = f->size < MAX_BYTES / 2 ? 2 * f->size : MAX_BYTES;

	*img = (struct image){ .is_fixed = f->header.e_type == ET_EXEC };
	img->ranges = xcalloc(MAX_RANGES + 1, sizeof(*img->ranges));
	for (size_t i = 0; i < f->nr_segments; i++) {
		if (take_segment(img, f, &f->segments[i], &budget))
			continue;
		image_release(img);
		return false;
	}
	return true;
}

void image_release(struct image *img)
{
	for (size_t i = 0; i < img->nr; i++) {
		free(img->ranges[i].bytes);
		free(img->ranges[i].marks);
	}
	free(img->ranges);
	*img = (struct image){};
}

/* O(ranges), of which there are about 4. */
static struct image_range *range_of(const struct image *img, uint64_t address, bool code)
{
	for (size_t i = 0; i < img->nr; i++) {
		struct image_range *r = &img->ranges[i];

		if (address >= r->start && address - r->start < r->sz && (r->marks || !code))
			return r;
	}
	return NULL;
}

static const uint8_t *bytes_of(const struct image_range *r, uint64_t address, size_t *sz)
{
	if (!r)
		return NULL;
	*sz = r->sz - (address - r->start);
	return r->bytes + (address - r->start);
}

const uint8_t *image_code(const struct image *img, uint64_t address, size_t *sz)
{
	return bytes_of(range_of(img, address, true), address, sz);
}

const uint8_t *image_bytes(const struct image *img, uint64_t address, size_t *sz)
{
	return bytes_of(range_of(img, address, false), address, sz);
}

void image_mark(struct image *img, uint64_t address)
{
	struct image_range *r = range_of(img, address, true);

	if (r)
		r->marks[(address - r->start) / 64] |= 1ull << (address - r->start) % 64;
}

bool image_is_marked(const struct image *img, uint64_t from, uint64_t to)
{
	for (uint64_t a = from + 1; a <= to; a++) {
		const struct image_range *r = range_of(img, a, true);

		if (r && r->marks[(a - r->start) / 64] >> (a - r->start) % 64 & 1)
			return true;
	}
	return false;
}
