/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding functions in the search table of .eh_frame_hdr. */
#include "symbol/fdes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "symbol/source.h"

#define MAX_FDES 4000000u /* 32 MB; the largest programs have a million */

struct fdes_window {
	uint64_t offset;
	size_t nr;
	uint8_t bytes[4096];
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
	struct eh_header h;
	size_t bytes;

	*f = (struct fdes){ .file = file };
	if (!eh_header_read(&h, file) || !h.nr_rows || h.nr_rows > MAX_FDES)
		return;
	bytes = h.nr_rows * sizeof(*f->entries);
	f->vaddr = h.vaddr;
	f->offset = h.offset;
	f->nr = h.nr_rows;
	f->entries = xmalloc(bytes);
	f->window = xcalloc(1, sizeof(*f->window));
	if (elf_file_read(file, h.rows, f->entries, bytes) != bytes || !is_sorted(f))
		fdes_release(f);
}

void fdes_release(struct fdes *f)
{
	free(f->entries);
	free(f->window);
	*f = (struct fdes){};
}

static bool read_fde(const struct fdes *f, uint64_t offset, struct fde *to)
{
	struct fdes_window *w = f->window;

	if (offset < w->offset || offset - w->offset + sizeof(*to) > w->nr) {
		w->offset = offset;
		w->nr = elf_file_read(f->file, offset, w->bytes, sizeof(w->bytes));
	}
	if (w->nr < sizeof(*to))
		return false;
	memcpy(to, w->bytes + (offset - w->offset), sizeof(*to));
	return true;
}

/*
 * How long is the function of an entry? Its FDE says; one that does not begin with the very address
 * that the table names is not of the usual form, and not believed.
 */
static uint32_t length_of(const struct fdes *f, const struct eh_header_row *e, uint64_t start)
{
	uint64_t here = f->vaddr + (int64_t)e->fde + offsetof(struct fde, start);
	struct fde fde;

	if (!read_fde(f, f->offset + (int64_t)e->fde, &fde))
		return 0;
	return here + (int64_t)fde.start == start ? fde.range : 0;
}

static uint64_t start_of(const struct fdes *f, size_t i)
{
	return f->vaddr + (int64_t)f->entries[i].start;
}

static uint64_t find_function(const struct fdes *f, uint64_t vaddr, uint64_t *next,
			      uint32_t *length)
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
	if (next)
		*next = lo < f->nr ? start_of(f, lo) : 0;
	if (!lo)
		return 0;
	start = start_of(f, lo - 1);
	*length = length_of(f, &f->entries[lo - 1], start);
	return vaddr - start < *length ? start : 0;
}

uint64_t fdes_find(const struct fdes *f, uint64_t vaddr, uint64_t *next)
{
	uint32_t length;

	return find_function(f, vaddr, next, &length);
}

static void *open_starts(const struct symbol_module *m)
{
	struct fdes *f;

	if (!m->file)
		return NULL;
	f = xcalloc(1, sizeof(*f));
	fdes_load(f, m->file);
	if (f->nr)
		return f;
	free(f);
	return NULL;
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	const struct fdes *f = source;
	uint64_t vaddr, next, end;
	uint32_t length;

	elf_file_vaddr(f->file, address, &vaddr);
	found->start = find_function(f, vaddr, &next, &length);
	if (!found->start)
		return false;
	if (next)
		found->next = address + next - vaddr;
	/* What begins behind it may be asked for its last byte, see symbolizer.c. */
	end = found->start + length - 1;
	if (next && next - 1 < end)
		end = next - 1;
	elf_file_part(f->file, address, found->start, vaddr < end ? end : vaddr + 1, &found->from,
		      &found->to);
	return true;
}

static void close_starts(void *source)
{
	fdes_release(source);
	free(source);
}

const struct symbol_source_ops symbol_source_starts = {
	"starts of functions in .eh_frame_hdr",
	SYMBOL_STARTS,
	FRAME_USER,
	open_starts,
	find,
	close_starts,
};
