/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of a saved profile in few bytes: as columns (base/words.h), in which strings are called by
 * their number. They are first used in the order in which they lie there, so most differ by one.
 */
#ifndef BPFPROF_PROFILE_PACKING_H
#define BPFPROF_PROFILE_PACKING_H

#include <stddef.h>
#include <stdint.h>

/* The strings of a file: where the one of each number begins. */
struct packing {
	const char *strings;
	size_t len;
	uint32_t *begins, nr;
};

/* The strings are lent. */
void packing_init(struct packing *p, const char *strings, size_t len);
void packing_release(struct packing *p);

/* strings: a bit for each word of a row that is the id of a string. To be freed. */
void *packing_make(const struct packing *p, const void *rows, size_t nr, size_t row_bytes,
		   uint32_t strings, size_t *len);
/* NULL: it is damaged. Else to be freed; there are no more rows than a quarter of the bytes. */
void *packing_open(const struct packing *p, const void *bytes, size_t len, size_t row_bytes,
		   uint32_t strings, size_t *nr);

#endif
