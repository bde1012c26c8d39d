/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of .eh_frame and .debug_frame. Both begin with a length and the offset of a CIE (or a
 * mark that this is one). They differ in how that offset counts, and in how addresses are written.
 */
#include "unwind/cfi.h"

#include <stdlib.h>

#include "base/mem.h"
#include "unwind/program.h"

#define LENGTH_64 0xffffffffu /* DWARF64: a length of 8 bytes follows */

#define PE_ABSPTR   0x00
#define PE_ULEB128  0x01
#define PE_UDATA4   0x03
#define PE_SLEB128  0x09
#define PE_SIGNED   0x08
#define PE_FORMAT   0x0f
#define PE_PCREL    0x10
#define PE_TEXTREL  0x20
#define PE_DATAREL  0x30
#define PE_FUNCREL  0x40
#define PE_BASE	    0x70
#define PE_INDIRECT 0x80
#define PE_OMIT	    0xff

struct entry {
	struct cursor rest; /* behind the offset of the CIE */
	size_t next;
	uint64_t id;	    /* as it stands there */
	uint64_t id_offset; /* where */
	bool is_cie;
};

void cfi_init(struct cfi *c)
{
	c->cies = xcalloc(CFI_NR_CIES, sizeof(*c->cies));
	c->budget = 65536 + 4 * (uint64_t)c->sz;
}

void cfi_release(struct cfi *c)
{
	free(c->cies);
	c->cies = NULL;
}

static uint64_t vaddr_at(const struct cfi *c, const struct cursor *at)
{
	return c->vaddr + (uint64_t)(at->at - c->bytes);
}

/* A number in one of the formats; false for formats that do not exist. */
static bool read_format(struct cursor *at, uint8_t format, uint64_t *value)
{
	static const uint8_t sizes[] = { [0x0] = 8, [0x2] = 2, [0x3] = 4, [0x4] = 8,
					 [0xa] = 2, [0xb] = 4, [0xc] = 8, [PE_FORMAT] = 0 };
	unsigned int unused_bits = 64 - 8 * sizes[format];

	if (format == PE_ULEB128) {
		*value = cursor_uleb(at);
	} else if (format == PE_SLEB128) {
		*value = (uint64_t)cursor_sleb(at);
	} else if (!sizes[format]) {
		return false;
	} else {
		*value = cursor_uint(at, sizes[format]);
		if (format & PE_SIGNED)
			*value = (uint64_t)((int64_t)(*value << unused_bits) >> unused_bits);
	}
	return !at->bad;
}

bool cfi_pointer(const struct cfi *c, struct cursor *at, uint8_t encoding, uint64_t function,
		 uint64_t *value)
{
	uint64_t here = vaddr_at(c, at);

	if (encoding == PE_OMIT || (encoding & PE_INDIRECT) ||
	    !read_format(at, encoding & PE_FORMAT, value))
		return false;
	switch (encoding & PE_BASE) {
	case PE_ABSPTR:
		break;
	case PE_PCREL:
		*value += here;
		break;
	case PE_TEXTREL:
		*value += c->text;
		break;
	case PE_DATAREL:
		*value += c->data;
		break;
	case PE_FUNCREL:
		*value += function;
		break;
	default:
		return false;
	}
	return true;
}

/* What all entries have; false at the end, or when it lies beyond. */
static bool read_entry(const struct cfi *c, uint64_t offset, struct entry *e)
{
	struct cursor at = { c->bytes + (offset < c->sz ? offset : c->sz), c->bytes + c->sz,
			     false };
	uint64_t length = cursor_uint(&at, 4);
	size_t id_sz = 4;

	if (length == LENGTH_64) {
		id_sz = 8;
		length = cursor_uint(&at, 8);
	}
	e->rest = cursor_take(&at, length);
	if (at.bad || !length)
		return false;
	e->next = (size_t)(at.at - c->bytes);
	e->id_offset = (uint64_t)(e->rest.at - c->bytes);
	e->id = cursor_uint(&e->rest, id_sz);
	if (c->is_debug)
		e->is_cie = e->id == (id_sz == 4 ? UINT32_MAX : UINT64_MAX);
	else
		e->is_cie = !e->id;
	return !e->rest.bad;
}

size_t cfi_next(const struct cfi *c, size_t offset)
{
	struct entry e;

	return read_entry(c, offset, &e) ? e.next : 0;
}

static void skip_personality(struct cursor *at)
{
	uint8_t encoding = cursor_u8(at);
	uint64_t unused;

	if (encoding != PE_OMIT && !read_format(at, encoding & PE_FORMAT, &unused))
		at->bad = true;
}

/*
 * What the letters of the augmentation say about its data. False for one that we do not know: what
 * it has there, nobody can tell.
 */
static bool read_augmentation(struct cfi_cie *cie, const char *letter, struct cursor *at)
{
	for (; *letter; letter++) {
		switch (*letter) {
		case 'R':
			cie->encoding = cursor_u8(at);
			break;
		case 'L':
			cursor_u8(at);
			break;
		case 'P':
			skip_personality(at);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* return addresses are signed with the other key */
		case 'G': /* memory tagging */
			break;
		default:
			return false;
		}
	}
	return !at->bad;
}

/* From the version to the first instruction. */
static bool read_cie_fields(struct cfi_cie *cie, struct cursor *at)
{
	uint8_t version = cursor_u8(at), address_sz = 8;
	const char *augmentation = (const char *)at->at;
	uint64_t ra_reg;
	struct cursor data;

	while (cursor_u8(at))
		;
	if (at->bad || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4) {
		address_sz = cursor_u8(at);
		cie->segment_sz = cursor_u8(at);
	}
	cie->encoding = address_sz == 4 ? PE_UDATA4 : PE_ABSPTR;
	cie->code_align = cursor_uleb(at);
	cie->data_align = cursor_sleb(at);
	ra_reg = version == 1 ? cursor_u8(at) : cursor_uleb(at);
	cie->ra_reg = (uint8_t)ra_reg;
	if (at->bad || ra_reg > UINT8_MAX || (address_sz != 4 && address_sz != 8))
		return false;
	if (*augmentation != 'z')
		return read_augmentation(cie, augmentation, at);
	cie->has_sizes = true;
	data = cursor_take(at, cursor_uleb(at));
	read_augmentation(cie, augmentation + 1, &data);
	return !at->bad && !data.bad;
}

static void read_cie(struct cfi *c, struct cfi_cie *cie, uint64_t offset)
{
	struct entry e;

	*cie = (struct cfi_cie){ .id = offset + 1, .bad = true };
	cie->initial.cfa.kind = CFI_UNSUPPORTED;
	cie->initial.ra.kind = c->arch == TABLE_X86 ? CFI_UNDEFINED : CFI_SAME;
	if (!read_entry(c, offset, &e) || !e.is_cie || e.next - offset > c->budget)
		return;
	c->budget -= e.next - offset;
	if (read_cie_fields(cie, &e.rest) && program_run_cie(c, cie, e.rest))
		cie->bad = false;
}

static const struct cfi_cie *find_cie(struct cfi *c, const struct entry *e)
{
	uint64_t offset = c->is_debug ? e->id : e->id_offset - e->id;
	struct cfi_cie *cie;

	if (offset >= c->sz) /* also when it is less than nothing */
		return NULL;
	cie = &c->cies[(offset >> 2) % CFI_NR_CIES];
	if (cie->id != offset + 1)
		read_cie(c, cie, offset);
	return cie->bad ? NULL : cie;
}

bool cfi_read_fde(struct cfi *c, size_t offset, struct cfi_fde *fde)
{
	struct entry e;
	uint64_t range;

	if (!read_entry(c, offset, &e) || e.is_cie)
		return false;
	fde->cie = find_cie(c, &e);
	if (!fde->cie)
		return false;
	cursor_take(&e.rest, fde->cie->segment_sz);
	if (!cfi_pointer(c, &e.rest, fde->cie->encoding, 0, &fde->start) ||
	    !read_format(&e.rest, fde->cie->encoding & PE_FORMAT, &range))
		return false;
	if (fde->cie->has_sizes)
		cursor_take(&e.rest, cursor_uleb(&e.rest));
	fde->program = e.rest;
	fde->sz = e.next - offset;
	fde->end = fde->start + range;
	return !e.rest.bad && fde->start && fde->start < fde->end &&
	       (fde->cie->encoding & PE_BASE) != PE_FUNCREL;
}
