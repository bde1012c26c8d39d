/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A pool knows strings by the place where they are; the number is kept at the same place. */
#include "output/numbered.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static void add_number(struct numbered *n, uint32_t id)
{
	if (n->cap_numbers < n->pool.len) {
		n->cap_numbers = 2 * n->pool.len;
		n->numbers = xreallocarray(n->numbers, n->cap_numbers, sizeof(*n->numbers));
	}
	n->numbers[id] = n->nr;
	n->ids = xgrow(n->ids, n->nr, &n->cap, sizeof(*n->ids));
	n->ids[n->nr++] = id;
}

void numbered_init(struct numbered *n)
{
	*n = (struct numbered){};
	strings_init(&n->pool);
	add_number(n, 0);
}

uint32_t numbered_add(struct numbered *n, const char *s)
{
	size_t before = n->pool.len;
	uint32_t id = strings_add(&n->pool, s, strlen(s));

	if (n->pool.len > before)
		add_number(n, id);
	return n->numbers[id];
}

uint32_t numbered_add_cleaned(struct numbered *n, const char *s)
{
	char *clean = text_cleaned(s);
	uint32_t number = numbered_add(n, clean);

	free(clean);
	return number;
}

void numbered_release(struct numbered *n)
{
	strings_release(&n->pool);
	free(n->ids);
	free(n->numbers);
}
