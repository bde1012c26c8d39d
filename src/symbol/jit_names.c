/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of sampled addresses in generated code. */
#include "symbol/jit_names.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_PUT 30000000

void jit_names_init(struct jit_names *n, const uint64_t *addresses, size_t nr)
{
	*n = (struct jit_names){ addresses, nr, xcalloc(nr, sizeof(*n->names)), MAX_PUT };
}

void jit_names_release(struct jit_names *n)
{
	free(n->names);
}

/* Index of the first address that is not below. */
static size_t lower(const struct jit_names *n, uint64_t address)
{
	size_t lo = 0, hi = n->nr, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (n->addresses[mid] < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct jit_name *jit_names_in(struct jit_names *n, uint64_t start, uint64_t size, size_t *nr)
{
	uint64_t end = start + size < start ? UINT64_MAX : start + size;
	size_t first = lower(n, start);

	*nr = lower(n, end) - first;
	if (*nr > n->budget)
		*nr = 0;
	n->budget -= *nr;
	return n->names + first;
}

const struct jit_name *jit_names_at(const struct jit_names *n, uint64_t address)
{
	size_t i = lower(n, address);

	return i < n->nr && n->addresses[i] == address && n->names[i].name.len ? &n->names[i]
									       : NULL;
}

bool jit_text_read(int fd, const struct jit_text *t, char *buf, size_t sz)
{
	size_t len = t->len < sz - 1 ? t->len : sz - 1;

	if (pread(fd, buf, len, t->offset) != (ssize_t)len)
		return false;
	buf[len] = '\0';
	return true;
}
