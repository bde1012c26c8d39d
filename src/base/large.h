/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Vectors that may become very large. */
#ifndef BPFPROF_BASE_LARGE_H
#define BPFPROF_BASE_LARGE_H

#include <stddef.h>

/* As xgrow(), and from some size on in huge pages, where the kernel has any. */
void *xgrow_large(void *vec, size_t nr, size_t *cap, size_t sz);

#endif
