/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is opened comes from outside: a few bytes may stand for very many. */
#include "base/packed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/mem.h"

#define GZIP  (MAX_WBITS + 16)
#define LEVEL 6
#define FIRST (64u << 10)

/* zlib fails for want of memory only, which ends the program. */
void *packed_make(const void *bytes, size_t len, size_t *packed_len)
{
	z_stream z = {};
	uint8_t *to;

	if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		abort();
	*packed_len = deflateBound(&z, len);
	to = xmalloc(*packed_len);
	z.next_in = (uint8_t *)bytes;
	z.avail_in = len;
	z.next_out = to;
	z.avail_out = *packed_len;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	*packed_len = z.total_out;
	deflateEnd(&z);
	return to;
}

bool packed_is(const void *bytes, size_t len)
{
	return len > 2 && !memcmp(bytes, "\x1f\x8b", 2);
}

static const char *inflate_all(z_stream *z, char **to, size_t *len, size_t most)
{
	size_t cap = 0;
	int err = Z_OK;

	while (err == Z_OK) {
		if (*len == cap) {
			cap = cap ? cap * 2 : FIRST;
			*to = xreallocarray(*to, cap, 1);
		}
		z->next_out = (uint8_t *)*to + *len;
		z->avail_out = cap - *len;
		err = inflate(z, Z_NO_FLUSH);
		*len = cap - z->avail_out;
		if (*len >= most)
			return "larger than 2 GiB";
		if (err == Z_OK && !z->avail_in && z->avail_out)
			return "truncated";
	}
	return err == Z_STREAM_END  ? NULL
	       : err == Z_BUF_ERROR ? "truncated"
				    : "damaged (it does not decompress)";
}

const char *packed_open(char **bytes, size_t *len, size_t most)
{
	z_stream z = { .next_in = (uint8_t *)*bytes, .avail_in = *len };
	const char *why;
	char *to = NULL;
	size_t nr = 0;

	if (inflateInit2(&z, GZIP) != Z_OK)
		abort();
	why = inflate_all(&z, &to, &nr, most);
	inflateEnd(&z);
	free(*bytes);
	*bytes = to;
	*len = nr;
	return why;
}
