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

struct how {
	lzma_options_lzma options;
	lzma_filter filters[2];
};

/* Of bytes, rather than of words that lie at multiples of four. */
static void choose(struct how *h)
{
	if (lzma_lzma_preset(&h->options, PRESET))
		abort();
	h->options.dict_size = REACH; /* what it takes of our memory follows from that */
	h->options.pb = 0;
	h->options.lc = 2;
	h->filters[0] = (lzma_filter){ LZMA_FILTER_LZMA2, &h->options };
	h->filters[1] = (lzma_filter){ .id = LZMA_VLI_UNKNOWN };
}

/* liblzma fails for want of memory only, which ends the program. */
void *packed_make(const void *bytes, size_t len, size_t *packed_len)
{
	struct how h;
	size_t most = lzma_stream_buffer_bound(len);
	uint8_t *to = xmalloc(most);

	*packed_len = 0;
	choose(&h);
	if (lzma_stream_buffer_encode(h.filters, LZMA_CHECK_CRC32, NULL, bytes, len, to, packed_len,
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

/* --- parts that go on --- */

struct packed_stream {
	lzma_stream z;
	bool begun;
};

struct packed_stream *packed_stream_new(void)
{
	return xcalloc(1, sizeof(struct packed_stream));
}

void packed_stream_free(struct packed_stream *s)
{
	if (s)
		lzma_end(&s->z);
	free(s);
}

static void begin(struct packed_stream *s, lzma_ret (*coder)(lzma_stream *z, const lzma_filter *f))
{
	struct how h;

	if (s->begun)
		return;
	choose(&h);
	if (coder(&s->z, h.filters) != LZMA_OK)
		abort();
	s->begun = true;
}

/* The end of a part is told apart by its length: in the stream nothing ends. */
void *packed_stream_make(struct packed_stream *s, const void *bytes, size_t len, size_t *packed_len)
{
	size_t cap = 0;
	char *to = NULL;
	lzma_ret err = LZMA_OK;

	begin(s, lzma_raw_encoder);
	*packed_len = 0;
	s->z.next_in = bytes;
	s->z.avail_in = len;
	while (err == LZMA_OK) {
		s->z.avail_out = make_room(&to, &cap, *packed_len);
		s->z.next_out = (uint8_t *)to + *packed_len;
		err = lzma_code(&s->z, LZMA_SYNC_FLUSH);
		*packed_len = cap - s->z.avail_out;
	}
	if (err != LZMA_STREAM_END)
		abort();
	return to;
}

const char *packed_stream_open(struct packed_stream *s, const void *part, size_t len, char **to,
			       size_t *to_len, size_t most)
{
	lzma_ret err = LZMA_OK;
	size_t cap = 0;

	begin(s, lzma_raw_decoder);
	*to = NULL;
	*to_len = 0;
	s->z.next_in = part;
	s->z.avail_in = len;
	do {
		s->z.avail_out = make_room(to, &cap, *to_len);
		s->z.next_out = (uint8_t *)*to + *to_len;
		err = lzma_code(&s->z, LZMA_RUN);
		*to_len = cap - s->z.avail_out;
	} while (err == LZMA_OK && (s->z.avail_in || !s->z.avail_out) && *to_len < most);
	if (*to_len < most && (err == LZMA_OK || (err == LZMA_BUF_ERROR && !s->z.avail_in)))
		return NULL;
	free(*to);
	*to = NULL;
	return *to_len < most ? says_why(false, false) : "larger than 2 GiB";
}
