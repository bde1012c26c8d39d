/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is opened comes from outside: a few bytes may stand for very many. */
#include "base/packed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lzma.h>
#include <zlib.h>

#include "base/mem.h"

#define GZIP   (MAX_WBITS + 16)
#define PRESET 3 /* of xz: the next one takes three times as long for 3 % less */
#define REACH  (256u << 10)
#define MEMORY (32u << 20) /* at most, of whoever opens it */
#define FIRST  (64u << 10)

/* liblzma fails for want of memory only, which ends the program. */
void *packed_make(const void *bytes, size_t len, size_t *packed_len)
{
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { .id = LZMA_VLI_UNKNOWN } };
	size_t most = lzma_stream_buffer_bound(len);
	uint8_t *to = xmalloc(most);

	*packed_len = 0;
	if (lzma_lzma_preset(&options, PRESET))
		abort();
	options.dict_size = REACH; /* what it takes of our memory follows from that */
	if (lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC32, NULL, bytes, len, to, packed_len,
				      most) != LZMA_OK)
		abort();
	return to;
}

static bool is_gzip(const void *bytes)
{
	return !memcmp(bytes, "\x1f\x8b", 2);
}

bool packed_is(const void *bytes, size_t len)
{
	static const char xz[] = "\3757zXZ";

	return len >= sizeof(xz) && (is_gzip(bytes) || !memcmp(bytes, xz, sizeof(xz)));
}

/* Where the next bytes go, and how many fit. */
static size_t make_room(char **to, size_t *cap, size_t len)
{
	if (len == *cap) {
		*cap = *cap ? *cap * 2 : FIRST;
		*to = xreallocarray(*to, *cap, 1);
	}
	return *cap - len;
}

const char packed_truncated[] = "truncated";

static const char *says_why(bool whole, bool cut)
{
	return whole ? NULL : cut ? packed_truncated : "damaged (it does not decompress)";
}

static const char *inflate_all(z_stream *z, char **to, size_t *len, size_t most)
{
	size_t cap = 0;
	int err = Z_OK;

	while (err == Z_OK) {
		z->avail_out = make_room(to, &cap, *len);
		z->next_out = (uint8_t *)*to + *len;
		err = inflate(z, Z_NO_FLUSH);
		*len = cap - z->avail_out;
		if (*len >= most)
			return "larger than 2 GiB";
		if (err == Z_OK && !z->avail_in && z->avail_out)
			return packed_truncated;
	}
	return says_why(err == Z_STREAM_END, err == Z_BUF_ERROR);
}

static const char *open_gzip(const char *bytes, size_t sz, char **to, size_t *len, size_t most)
{
	z_stream z = { .next_in = (uint8_t *)bytes, .avail_in = sz };
	const char *why;

	if (inflateInit2(&z, GZIP) != Z_OK)
		abort();
	why = inflate_all(&z, to, len, most);
	inflateEnd(&z);
	return why;
}

static const char *open_xz(const char *bytes, size_t sz, char **to, size_t *len, size_t most)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret err = lzma_stream_decoder(&z, MEMORY, 0);
	size_t cap = 0;

	z.next_in = (const uint8_t *)bytes;
	z.avail_in = sz;
	while (err == LZMA_OK && *len < most) {
		z.avail_out = make_room(to, &cap, *len);
		z.next_out = (uint8_t *)*to + *len;
		err = lzma_code(&z, LZMA_FINISH);
		*len = cap - z.avail_out;
	}
	lzma_end(&z);
	if (*len >= most)
		return "larger than 2 GiB";
	return says_why(err == LZMA_STREAM_END, err == LZMA_BUF_ERROR);
}

const char *packed_open(char **bytes, size_t *len, size_t most)
{
	const char *why;
	char *to = NULL;
	size_t nr = 0;

	why = (is_gzip(*bytes) ? open_gzip : open_xz)(*bytes, *len, &to, &nr, most);
	free(*bytes);
	*bytes = to;
	*len = nr;
	return why;
}
