/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names by pages. */
#include "elf/strtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define PAGE  4096u
#define SLOTS 512u

void strtab_init(struct strtab *t, const struct elf_file *f, uint64_t offset, uint64_t size)
{
	*t = (struct strtab){ .file = f, .offset = offset, .size = size };
	t->pages = xmalloc(PAGE * SLOTS);
	t->held = xcalloc(SLOTS, sizeof(*t->held));
}

void strtab_release(struct strtab *t)
{
	free(t->pages);
	free(t->held);
	memset(t, 0, sizeof(*t));
}

/* The bytes from at to the end of its page, *len of them; NULL when they cannot be read. */
static const char *page_at(struct strtab *t, uint64_t at, size_t *len)
{
	uint64_t nr = at / PAGE, start = nr * PAGE;
	uint8_t *page = t->pages + nr % SLOTS * PAGE;
	uint64_t *held = &t->held[nr % SLOTS];
	size_t sz = t->size - start < PAGE ? t->size - start : PAGE;

	if (*held != nr + 1) {
		*held = 0;
		t->work += PAGE;
		if (elf_file_read(t->file, t->offset + start, page, sz) != sz)
			return NULL;
		*held = nr + 1;
	}
	*len = sz - (at - start);
	return (const char *)page + (at - start);
}

ssize_t strtab_copy(struct strtab *t, uint64_t at, char *buf, size_t cap)
{
	size_t len = 0, part, n;
	const char *bytes;

	while (len < cap - 1) {
		buf[len] = '\0';
		if (at + len >= t->size)
			return -1;
		bytes = page_at(t, at + len, &part);
		if (!bytes)
			return -1;
		if (part > cap - 1 - len)
			part = cap - 1 - len;
		n = strnlen(bytes, part);
		memcpy(buf + len, bytes, n);
		len += n;
		t->work += n;
		if (n < part) {
			buf[len] = '\0';
			return len;
		}
	}
	buf[len] = '\0';
	return cap;
}
