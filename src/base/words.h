/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of 32-bit words in few bytes: column by column, each word as its difference to the one above
 * it, in seven bits a byte. What is alike comes together, so it compresses well.
 */
#ifndef BPFPROF_BASE_WORDS_H
#define BPFPROF_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_MOST 5 /* bytes that one takes */

/* Returns how many bytes it wrote, at most WORDS_MOST for each word. */
size_t words_pack(const uint32_t *rows, size_t nr, size_t width, uint8_t *to);

/* False: the bytes are no such rows, or not that many. */
bool words_open(const uint8_t *from, size_t len, uint32_t *rows, size_t nr, size_t width);

#endif
