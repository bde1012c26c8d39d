/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pool of distinct strings. The id of a string is the offset of its first byte in one block of
 * NUL-terminated strings, so the block can be written to a file and read back as it is. Id 0 is "".
 */
#ifndef BPFPROF_BASE_STRINGS_H
#define BPFPROF_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct strings_entry;

struct strings {
	char *bytes;
	size_t len, cap;
	struct strings_entry *index;
};

void strings_init(struct strings *p);
void strings_release(struct strings *p);

/* The id of s (len bytes, cut at a NUL within). Aborts beyond 4 GiB of distinct strings. */
uint32_t strings_add(struct strings *p, const char *s, size_t len);

/*
 * Takes over a block read from a file: NUL-terminated strings, the first one "". Nothing can be
 * added afterwards.
 */
void strings_adopt(struct strings *p, char *bytes, size_t len);

#endif
