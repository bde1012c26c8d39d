/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The string pool. The index keeps a copy of each key, since the block moves as it grows. */
#include "base/strings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"

struct strings_entry {
	UT_hash_handle hh;
	uint32_t id;
	char key[];
};

void strings_init(struct strings *p)
{
	*p = (struct strings){};
	strings_add(p, "", 0);
}

void strings_release(struct strings *p)
{
	struct strings_entry *e, *tmp;

	HASH_ITER (hh, p->index, e, tmp) {
		HASH_DEL(p->index, e);
		free(e);
	}
	free(p->bytes);
	*p = (struct strings){};
}

static uint32_t append(struct strings *p, const char *s, size_t len)
{
	size_t id = p->len;

	assert(id + len + 1 <= UINT32_MAX);
	while (p->len + len + 1 > p->cap) {
		p->cap = p->cap ? p->cap * 2 : 4096;
		p->bytes = xreallocarray(p->bytes, p->cap, 1);
	}
	memcpy(p->bytes + id, s, len);
	p->bytes[id + len] = '\0';
	p->len = id + len + 1;
	return id;
}

uint32_t strings_add(struct strings *p, const char *s, size_t len)
{
	struct strings_entry *e;

	len = strnlen(s, len);
	HASH_FIND(hh, p->index, s, len, e);
	if (e)
		return e->id;
	e = xmalloc(sizeof(*e) + len + 1);
	memcpy(e->key, s, len);
	e->key[len] = '\0';
	e->id = append(p, s, len);
	HASH_ADD_KEYPTR(hh, p->index, e->key, len, e);
	return e->id;
}

void strings_adopt(struct strings *p, char *bytes, size_t len)
{
	strings_release(p);
	p->bytes = bytes;
	p->len = p->cap = len;
}
