/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows that begin with a 64-bit key, sorted by it in passes over all of them instead of
 * comparisons. Rows of one key keep their order.
 */
#ifndef BPFPROF_BASE_RADIX_H
#define BPFPROF_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct radix_row {
	uint64_t key, rest;
} __attribute__((may_alias)); /* rows of callers have names for the rest */

/* By the bits of the key from the lowest_bit on. Takes as much memory again while it runs. */
void radix_sort(struct radix_row *rows, size_t nr, unsigned int lowest_bit);

#endif
