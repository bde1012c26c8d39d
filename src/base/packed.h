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

/*
 * Parts that go on, each packed by what came before it: they can be opened one after the other, all
 * of them from the first one on. Of one stream, parts are either made or opened.
 */
struct packed_stream;
struct packed_stream *packed_stream_new(void);
void packed_stream_free(struct packed_stream *s);
/* To be freed. */
void *packed_stream_make(struct packed_stream *s, const void *bytes, size_t len,
			 size_t *packed_len);
/* NULL: it is in to, which is to be freed. Else why not: then nothing behind it can be opened. */
const char *packed_stream_open(struct packed_stream *s, const void *part, size_t len, char **to,
			       size_t *to_len, size_t most);

#endif
