/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which functions are an allocator's. Wrappers of allocators (xmalloc, operator new) count as
 * allocators.
 */
#ifndef BPFPROF_PROFILE_ALLOCATOR_H
#define BPFPROF_PROFILE_ALLOCATOR_H

#include "profile/tree.h"

/*
 * Of a stack that ends at this node, the innermost function that is none of an allocator: it
 * allocated. In a stack of nothing but allocators that is the leaf.
 */
uint32_t allocator_caller(const struct tree *t, uint32_t leaf);

#endif
