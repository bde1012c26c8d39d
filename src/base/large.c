/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A page that is touched for the first time costs more than to fill it. */
#include "base/large.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

#define LARGE (4u << 20)

void *xgrow_large(void *vec, size_t nr, size_t *cap, size_t sz)
{
	uintptr_t begin, end, page = sysconf(_SC_PAGESIZE);

	if (nr < *cap)
		return vec;
	vec = xgrow(vec, nr, cap, sz);
	/* All of its pages alike: mremap(), by which it grows, takes no range of several kinds. */
	begin = (uintptr_t)vec & -page;
	end = ((uintptr_t)vec + *cap * sz + page - 1) & -page;
	if (*cap * sz >= LARGE)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
	return vec;
}
