/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the sections, reads each as one piece, and lists its functions: 8 bytes per function, by
 * search table 0.1 ms per 100,000, by reading through 5 ms.
 */
#include "unwind/frames.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "elf/eh_header.h"

struct frame {
	uint32_t start; /* from base */
	uint32_t offset;
};

_Static_assert(sizeof(struct eh_header_row) == sizeof(struct frame), "8 bytes in the file");

/* Inflates what a struct Elf64_Chdr stands before; a section that claims too much is not there. */
static bool inflate_section(struct frames *f)
{
	uLongf sz;
	Elf64_Chdr header;
	uint8_t *bytes;

	if (f->cfi.sz < sizeof(header))
		return false;
	memcpy(&header, f->bytes, sizeof(header));
	if (header.ch_type != ELFCOMPRESS_ZLIB || header.ch_size > FRAMES_MAX_BYTES)
		return false;
	sz = header.ch_size;
	bytes = xmalloc(sz + 1);
	if (uncompress(bytes, &sz, f->bytes + sizeof(header), f->cfi.sz - sizeof(header)) != Z_OK)
		sz = 0;
	free(f->bytes);
	f->bytes = bytes;
	f->cfi.bytes = bytes;
	f->cfi.sz = sz;
	return sz;
}

static bool read_section(struct frames *f, struct range r)
{
	size_t sz = r.end - r.start < FRAMES_MAX_BYTES ? r.end - r.start : FRAMES_MAX_BYTES;

	if (!sz)
		return false;
	f->bytes = xmalloc(sz);
	f->cfi.bytes = f->bytes;
	f->cfi.sz = elf_file_read(f->layout->file, r.offset, f->bytes, sz);
	if (f->cfi.is_debug && f->layout->debug_frame_is_compressed && !inflate_section(f))
		return false;
	f->cfi.vaddr = r.start;
	f->cfi.arch = f->layout->arch;
	f->cfi.text = f->layout->sections[SECTION_TEXT].start;
	f->cfi.data = f->layout->sections[SECTION_GOT_PLT].start;
	f->budget = f->cfi.sz;
	cfi_init(&f->cfi);
	return true;
}

/* Functions outside of the code are none that run. */
static void add(struct frames *f, uint64_t start, uint64_t offset)
{
	if (start - f->base > UINT32_MAX || offset >= f->cfi.sz || f->nr == FRAMES_MAX)
		return;
	f->list = xgrow(f->list, f->nr, &f->cap, sizeof(*f->list));
	f->list[f->nr++] = (struct frame){ (uint32_t)(start - f->base), (uint32_t)offset };
}

static int by_start(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort(struct frames *f)
{
	size_t i = 1;

	while (i < f->nr && f->list[i - 1].start <= f->list[i].start)
		i++;
	if (i < f->nr)
		qsort(f->list, f->nr, sizeof(*f->list), by_start);
}

/* .debug_frame may have holes of zeros; in .eh_frame they are its end. */
static size_t next_entry(const struct frames *f, size_t offset)
{
	size_t next = cfi_next(&f->cfi, offset);
	struct cursor at = { f->bytes + offset, f->bytes + f->cfi.sz, false };

	if (next || !f->cfi.is_debug || cursor_uint(&at, 4) || at.bad)
		return next;
	return offset + 4;
}

static void read_through(struct frames *f)
{
	struct cfi_fde fde;
	size_t offset = 0;

	do {
		if (cfi_read_fde(&f->cfi, offset, &fde))
			add(f, fde.start, offset);
		offset = next_entry(f, offset);
	} while (offset);
}

/* Rows become frames where they stand: there are never more of the latter. */
static void read_search_table(struct frames *f, const struct eh_header *h)
{
	size_t nr = h->nr_rows < FRAMES_MAX ? h->nr_rows : FRAMES_MAX;
	struct eh_header_row row;

	if (!nr)
		return;
	f->list = xmalloc(nr * sizeof(row));
	f->cap = nr;
	if (elf_file_read(f->layout->file, h->rows, f->list, nr * sizeof(row)) != nr * sizeof(row))
		return;
	for (size_t i = 0; i < nr; i++) {
		memcpy(&row, &f->list[i], sizeof(row));
		add(f, h->vaddr + (uint64_t)(int64_t)row.start,
		    h->vaddr + (uint64_t)(int64_t)row.fde - f->cfi.vaddr);
	}
}

static void open_empty(struct frames *f, const struct layout *l)
{
	*f = (struct frames){ .layout = l, .base = l->code[0].start };
}

void frames_open_eh(struct frames *f, const struct layout *l)
{
	struct range r = l->sections[SECTION_EH_FRAME];
	struct eh_header h;
	bool has_header = eh_header_read(&h, l->file);

	open_empty(f, l);
	if (has_header && r.start != h.eh_frame)
		r = layout_rest(l, h.eh_frame);
	if (r.start >= r.end)
		r = l->sections[SECTION_EH_FRAME];
	if (!read_section(f, r))
		return;
	if (has_header)
		read_search_table(f, &h);
	if (!f->nr)
		read_through(f);
	sort(f);
}

void frames_open_debug(struct frames *f, const struct layout *l)
{
	open_empty(f, l);
	f->cfi.is_debug = true;
	if (!read_section(f, l->sections[SECTION_DEBUG_FRAME]))
		return;
	read_through(f);
	sort(f);
}

void frames_release(struct frames *f)
{
	cfi_release(&f->cfi);
	free(f->bytes);
	free(f->list);
	*f = (struct frames){};
}

bool frames_next(struct frames *f, struct cfi_fde *fde)
{
	const struct range *code;

	while (f->i < f->nr) {
		const struct frame *frame = &f->list[f->i++];

		if (!cfi_read_fde(&f->cfi, frame->offset, fde) ||
		    fde->start != f->base + frame->start || fde->sz > f->budget)
			continue;
		f->budget -= fde->sz;
		code = layout_code(f->layout, fde->start);
		if (!code)
			continue;
		if (fde->end > code->end)
			fde->end = code->end;
		return true;
	}
	return false;
}
