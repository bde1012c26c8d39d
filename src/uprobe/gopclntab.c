/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A header, names, and rows of two 4-byte offsets: of a function from the beginning of the code,
 * and of what is known about it from the beginning of the rows. Behind the last row is where the
 * code ends.
 */
#include "uprobe/gopclntab.h"

#include <stdlib.h>
#include <string.h>

#include "elf/section.h"

#define MAX_BYTES (256u << 20)
#define GO_1_18	  0xfffffff0u
#define GO_1_20	  0xfffffff1u
#define SLACK	  64 /* bytes that the linker may add behind the code */

struct header {
	uint32_t magic;
	uint8_t zero[2], quantum, pointer;
	uint64_t nr_functions, nr_files;
	uint64_t text; /* where the code begins; 0 since Go 1.26, and where it is relocated */
	uint64_t names, units, files, pcs, rows;
};
_Static_assert(sizeof(struct header) == 72, "as the linker of Go writes it");

struct table {
	const uint8_t *bytes;
	size_t sz;
	struct header h;
};

static bool read_u32(const struct table *t, uint64_t at, uint32_t *value)
{
	if (at > t->sz || t->sz - at < sizeof(*value))
		return false;
	memcpy(value, t->bytes + at, sizeof(*value));
	return true;
}

/* The bytes end in a zero behind the last one, so a string that begins inside ends. */
static const char *name_of(const struct table *t, uint32_t function)
{
	uint32_t name;

	if (!read_u32(t, t->h.rows + function + 4, &name) || t->h.names + name >= t->sz)
		return NULL;
	return (const char *)t->bytes + t->h.names + name;
}

static bool header_is_ours(const struct table *t)
{
	const struct header *h = &t->h;

	return (h->magic == GO_1_18 || h->magic == GO_1_20) && h->pointer == 8 && h->rows < t->sz &&
	       h->names < t->sz && h->nr_functions < t->sz / 8;
}

/* Where the code begins: the header says it, or the section holds nothing else. */
static bool find_text(const struct table *t, const struct elf_file *f, uint64_t *text)
{
	const Elf64_Shdr *s = section_find(f, ".text");
	uint32_t end;

	*text = t->h.text;
	if (*text)
		return true;
	if (!s || !read_u32(t, t->h.rows + 8 * t->h.nr_functions, &end) || end > s->sh_size ||
	    s->sh_size - end > SLACK)
		return false;
	*text = s->sh_addr;
	return true;
}

static bool for_each(const struct table *t, uint64_t text,
		     bool (*each)(void *arg, const char *name, uint64_t address, uint64_t size),
		     void *arg)
{
	uint32_t start, function, end;
	const char *name;

	for (uint64_t i = 0; i < t->h.nr_functions; i++) {
		uint64_t row = t->h.rows + 8 * i;

		if (!read_u32(t, row, &start) || !read_u32(t, row + 4, &function) ||
		    !read_u32(t, row + 8, &end) || end < start)
			return false;
		name = name_of(t, function);
		if (!name || !each(arg, name, text + start, end - start))
			return false;
	}
	return true;
}

bool gopclntab_for_each(const struct elf_file *f,
			bool (*each)(void *arg, const char *name, uint64_t address, uint64_t size),
			void *arg)
{
	const Elf64_Shdr *s =
		section_find(f, ".gopclntab") ?: section_find(f, ".data.rel.ro.gopclntab");
	struct table t = {};
	uint64_t text;
	void *bytes = s ? section_read(f, s, MAX_BYTES, &t.sz) : NULL;
	bool ok = false;

	t.bytes = bytes;
	if (bytes && t.sz >= sizeof(t.h)) {
		memcpy(&t.h, bytes, sizeof(t.h));
		ok = header_is_ours(&t) && find_text(&t, f, &text) && for_each(&t, text, each, arg);
	}
	free(bytes);
	return ok;
}
