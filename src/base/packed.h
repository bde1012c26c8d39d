/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes as xz compresses them, in memory; those of gzip are read, too. */
#ifndef BPFPROF_BASE_PACKED_H
#define BPFPROF_BASE_PACKED_H

#include <stdbool.h>
#include <stddef.h>

/* To be freed. */
void *packed_make(const void *bytes, size_t len, size_t *packed_len);

bool packed_is(const void *bytes, size_t len);

extern const char packed_truncated[];

/*
 * Puts what is in it in its place, unless that is larger than most. Why it cannot, or NULL; of what
 * is truncated, as much as there is.
 */
const char *packed_open(char **bytes, size_t *len, size_t most);

#endif
