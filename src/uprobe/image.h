/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The loaded parts of an ELF file in memory: its code and its data, by address as linked. */
#ifndef BPFPROF_UPROBE_IMAGE_H
#define BPFPROF_UPROBE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

#define IMAGE_PADDING 8 /* readable zeros behind the bytes of each range */

struct image_range {
	uint64_t start;
	size_t sz;
	uint8_t *bytes;
	uint64_t *marks; /* of code: a bit for each byte */
};

struct image {
	struct image_range *ranges;
	size_t nr;
	bool is_fixed; /* linked to its final addresses: code holds absolute ones */
};

/*
 * False, and img is empty: the segments together are larger than the file twice over, or than 1
 * GB.
 */
bool image_load(struct image *img, const struct elf_file *f);
void image_release(struct image *img);

/* The bytes of code from an address on, and how many there are; NULL when it is not code. */
const uint8_t *image_code(const struct image *img, uint64_t address, size_t *sz);

/* The bytes from an address on, of code or data. */
const uint8_t *image_bytes(const struct image *img, uint64_t address, size_t *sz);

/* Marks an address if it is code. */
void image_mark(struct image *img, uint64_t address);

/* Whether any address in (from, to] is marked. O(to - from). */
bool image_is_marked(const struct image *img, uint64_t from, uint64_t to);

#endif
