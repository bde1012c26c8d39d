/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A header, names, and rows of two 4-byte offsets: of a function from the beginning of the code,
 * and of what is known about it from the beginning of the rows. Behind the last row is where the
 * code ends.
 */
#include "elf/gopclntab.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/gopclntab_parts.h"
#include "elf/section.h"

#define MAX_BYTES     (128u << 20)
#define MAX_FUNCTIONS (4u << 20)
#define MAX_VALUES    (1u << 20) /* of one function */
#define SLACK	      64	 /* bytes that the linker may add behind the code */

/* Of what is known about a function; startLine came with Go 1.20. */
#define FN_NAME	    4
#define FN_PCSP	    16
#define FN_FLAGS(t) ((t)->h.magic == GO_1_18 ? 37 : 41)

bool gopclntab_u32(const struct gopclntab *t, uint64_t at, uint32_t *value)
{
	if (at > t->sz || t->sz - at < sizeof(*value))
		return false;
	memcpy(value, t->bytes + at, sizeof(*value));
	return true;
}

/* The bytes end in a zero behind the last one, so a string that begins inside ends. */
const char *gopclntab_name(const struct gopclntab *t, uint32_t name)
{
	return t->h.names + name < t->sz ? (const char *)t->bytes + t->h.names + name : NULL;
}

static bool header_is_ours(const struct gopclntab *t)
{
	const struct gopclntab_header *h = &t->h;

	return (h->magic == GO_1_18 || h->magic == GO_1_20) && h->pointer == 8 && h->rows < t->sz &&
	       h->names < t->sz && h->units < t->sz && h->files < t->sz && h->pcs < t->sz &&
	       h->nr_functions < t->sz / 8 && h->nr_functions <= MAX_FUNCTIONS &&
	       (h->quantum == 1 || h->quantum == 4);
}

/* The linker of the system puts the table among other data: it is where its header is. */
static bool find_header(struct gopclntab *t, bool alone)
{
	for (size_t at = 0; at + sizeof(t->h) <= t->sz; at += 8) {
		struct gopclntab whole = *t;

		memcpy(&t->h, t->bytes + at, sizeof(t->h));
		t->bytes += at;
		t->vaddr += at;
		t->sz -= at;
		if (header_is_ours(t))
			return true;
		*t = whole;
		if (alone)
			break;
	}
	return false;
}

static bool read_table(struct gopclntab *t, const char *name, bool alone)
{
	const Elf64_Shdr *s = section_find(t->file, name);

	t->section = s ? section_read(t->file, s, MAX_BYTES, &t->sz) : NULL;
	if (!t->section)
		return false;
	t->bytes = t->section;
	t->vaddr = s->sh_addr;
	if (find_header(t, alone))
		return true;
	free(t->section);
	t->section = NULL;
	return false;
}

/* Other programs are not read any further. */
static bool is_go(const struct elf_file *f)
{
	return section_find(f, ".go.buildinfo") || section_find(f, ".note.go.buildid") ||
	       section_find(f, ".gopclntab");
}

/* The section holds nothing but the code that the table is about. */
static bool text_is_alone(struct gopclntab *t)
{
	const Elf64_Shdr *s = section_find(t->file, ".text");
	uint32_t end;

	if (!s || !gopclntab_u32(t, t->h.rows + 8 * t->h.nr_functions, &end) || end > s->sh_size ||
	    s->sh_size - end > SLACK)
		return false;
	t->text = s->sh_addr;
	return true;
}

struct gopclntab *gopclntab_open(const struct elf_file *f)
{
	struct gopclntab *t;

	if (!is_go(f))
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->file = f;
	if (read_table(t, ".gopclntab", true) || read_table(t, ".data.rel.ro.gopclntab", true) ||
	    read_table(t, ".data.rel.ro", false)) {
		t->text = t->h.text;
		if (gomodule_read(t) || t->text || text_is_alone(t))
			return t;
	}
	gopclntab_close(t);
	return NULL;
}

void gopclntab_close(struct gopclntab *t)
{
	if (!t)
		return;
	free(t->section);
	free(t);
}

size_t gopclntab_count(const struct gopclntab *t)
{
	return t->h.nr_functions;
}

bool gopclntab_get(const struct gopclntab *t, size_t i, struct gopclntab_function *fn)
{
	uint64_t row = t->h.rows + 8 * i;
	uint32_t start, about, end, name;

	if (i >= t->h.nr_functions || !gopclntab_u32(t, row, &start) ||
	    !gopclntab_u32(t, row + 4, &about) || !gopclntab_u32(t, row + 8, &end) || end < start)
		return false;
	fn->row = t->h.rows + about;
	fn->start = t->text + start;
	fn->end = t->text + end;
	if (fn->end < fn->start || !gopclntab_u32(t, fn->row + FN_NAME, &name))
		return false;
	fn->name = gopclntab_name(t, name);
	fn->flags = fn->row + FN_FLAGS(t) < t->sz ? t->bytes[fn->row + FN_FLAGS(t)] : 0;
	return fn->name;
}

bool gopclntab_find(const struct gopclntab *t, uint64_t vaddr, struct gopclntab_function *fn)
{
	size_t low = 0, high = t->h.nr_functions, mid;
	uint32_t start;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (!gopclntab_u32(t, t->h.rows + 8 * mid, &start))
			return false;
		if (t->text + start <= vaddr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && gopclntab_get(t, low - 1, fn) && vaddr - fn->start < fn->end - fn->start;
}

/* --- numbers that change along a function --- */

static bool read_varint(struct gopclntab_values *v, uint32_t *number)
{
	uint8_t byte = 0x80;

	*number = 0;
	for (int shift = 0; byte & 0x80; shift += 7) {
		if (shift > 28 || v->at >= v->limit)
			return false;
		byte = *v->at++;
		*number |= (uint32_t)(byte & 0x7f) << shift;
	}
	return true;
}

bool gopclntab_values(const struct gopclntab *t, const struct gopclntab_function *fn, uint32_t off,
		      struct gopclntab_values *v)
{
	if (!off || off >= t->sz - t->h.pcs)
		return false;
	*v = (struct gopclntab_values){ .at = t->bytes + t->h.pcs + off,
					.limit = t->bytes + t->sz,
					.from = fn->start,
					.to = fn->start,
					.end = fn->end,
					.value = -1,
					.quantum = t->h.quantum };
	if ((size_t)(v->limit - v->at) > MAX_VALUES)
		v->limit = v->at + MAX_VALUES;
	return true;
}

/* Pairs of a change of the value, zigzag, and of how far it holds. The first may change nothing. */
bool gopclntab_next(struct gopclntab_values *v)
{
	bool first = v->to == v->from;
	uint32_t change, length;

	v->from = v->to;
	if (v->from >= v->end || !read_varint(v, &change) || (!change && !first) ||
	    !read_varint(v, &length) || !length)
		return false;
	v->value += change & 1 ? -(int64_t)(change >> 1) - 1 : (int64_t)(change >> 1);
	v->to += (uint64_t)length * v->quantum;
	if (v->to > v->end)
		v->to = v->end;
	return v->to > v->from;
}

bool gopclntab_frame_sizes(const struct gopclntab *t, const struct gopclntab_function *fn,
			   struct gopclntab_values *v)
{
	uint32_t off;

	return gopclntab_u32(t, fn->row + FN_PCSP, &off) && gopclntab_values(t, fn, off, v);
}

bool gopclntab_for_each(const struct elf_file *f,
			bool (*each)(void *arg, const char *name, uint64_t address, uint64_t size),
			void *arg)
{
	struct gopclntab *t = gopclntab_open(f);
	struct gopclntab_function fn;
	bool ok = t;

	for (size_t i = 0; ok && i < t->h.nr_functions; i++)
		ok = gopclntab_get(t, i, &fn) && each(arg, fn.name, fn.start, fn.end - fn.start);
	gopclntab_close(t);
	return ok;
}
