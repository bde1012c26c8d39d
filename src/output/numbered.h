/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Strings by number, in the order in which they came: tables of strings in files. 0 is "". */
#ifndef BPFPROF_OUTPUT_NUMBERED_H
#define BPFPROF_OUTPUT_NUMBERED_H

#include "base/strings.h"

struct numbered {
	struct strings pool;
	uint32_t *ids;	   /* by number */
	uint32_t *numbers; /* by id in the pool; between two ids anything */
	size_t nr, cap, cap_numbers;
};

void numbered_init(struct numbered *n);
void numbered_release(struct numbered *n);

uint32_t numbered_add(struct numbered *n, const char *s);
/* A name that is safe to print. */
uint32_t numbered_add_cleaned(struct numbered *n, const char *s);

static inline const char *numbered_at(const struct numbered *n, uint32_t number)
{
	return n->pool.bytes + n->ids[number];
}

#endif
