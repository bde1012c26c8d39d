/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "who/process_context.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_PAYLOAD (64u << 10)
#define TRIES	    3

/* As OTEP 4719 has it. */
struct header {
	char signature[8];
	uint32_t version, size;
	uint64_t published_ns; /* 0 = being changed */
	uint64_t payload;
};
#define SIGNATURE "OTEL_CTX"
#define VERSION	  2

static const char *const mappings[] = { "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]",
					"/memfd:OTEL_CTX" };

uint64_t process_context_find(const char *maps, size_t len)
{
	while (len) {
		const char *end = memchr(maps, '\n', len);
		size_t line = end ? (size_t)(end - maps) : len;
		char start[17] = "";

		for (size_t i = 0; i < sizeof(mappings) / sizeof(*mappings); i++) {
			if (!memmem(maps, line, mappings[i], strlen(mappings[i])))
				continue;
			memcpy(start, maps, line < 16 ? line : 16);
			return strtoull(start, NULL, 16);
		}
		line += !!end;
		maps += line;
		len -= line;
	}
	return 0;
}

/* A field of a message: its number, and the bytes of one that has a length. */
struct field {
	uint64_t number;
	const uint8_t *bytes; /* NULL: it is a number */
	size_t len;
};

static bool take_varint(const uint8_t **p, const uint8_t *end, uint64_t *n)
{
	*n = 0;
	for (unsigned int shift = 0; *p < end && shift < 64; shift += 7) {
		uint8_t byte = *(*p)++;

		*n |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool skip(const uint8_t **p, const uint8_t *end, size_t sz)
{
	if ((size_t)(end - *p) < sz)
		return false;
	*p += sz;
	return true;
}

static bool next_field(const uint8_t **p, const uint8_t *end, struct field *f)
{
	uint64_t tag, n;

	if (!take_varint(p, end, &tag))
		return false;
	*f = (struct field){ .number = tag >> 3 };
	switch (tag & 7) {
	case 0:
		return take_varint(p, end, &n);
	case 1:
		return skip(p, end, 8);
	case 2:
		if (!take_varint(p, end, &n) || n > (uint64_t)(end - *p))
			return false;
		f->bytes = *p;
		f->len = n;
		return skip(p, end, n);
	case 5:
		return skip(p, end, 4);
	}
	return false;
}

static const struct {
	const char *key;
	enum fact fact;
} attributes[] = {
	{ "service.name", FACT_SERVICE_CONTEXT },
	{ "service.version", FACT_VERSION_CONTEXT },
	{ "deployment.environment.name", FACT_ENVIRONMENT_CONTEXT },
};

/* The string in an AnyValue, its field 1. */
static struct field string_of(struct field any)
{
	const uint8_t *p = any.bytes, *end = any.bytes + any.len;
	struct field f, found = {};

	while (next_field(&p, end, &f))
		if (f.number == 1 && f.bytes)
			found = f;
	return found;
}

/* A KeyValue: key = 1, value = 2. */
static void tell(struct field pair, fact_fn fn, void *arg)
{
	const uint8_t *p = pair.bytes, *end = pair.bytes + pair.len;
	struct field f, key = {}, value = {};

	while (next_field(&p, end, &f)) {
		if (f.number == 1 && f.bytes)
			key = f;
		else if (f.number == 2 && f.bytes)
			value = string_of(f);
	}
	if (!key.bytes || !value.len || memchr(value.bytes, 0, value.len))
		return;
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++)
		if (strlen(attributes[i].key) == key.len &&
		    !memcmp(attributes[i].key, key.bytes, key.len))
			fn(arg, attributes[i].fact, (const char *)value.bytes,
			   value.len < FACT_MAX_LEN ? value.len : FACT_MAX_LEN);
}

/* ProcessContext: resource = 1, with its attributes = 1; attributes = 2. */
void process_context_parse(const uint8_t *bytes, size_t len, fact_fn fn, void *arg)
{
	const uint8_t *p = bytes, *end = bytes + len, *q;
	struct field f, inner;

	while (next_field(&p, end, &f)) {
		if (f.number == 2 && f.bytes)
			tell(f, fn, arg);
		q = f.bytes;
		while (f.number == 1 && q && next_field(&q, f.bytes + f.len, &inner))
			if (inner.number == 1 && inner.bytes)
				tell(inner, fn, arg);
	}
}

static bool is_usable(const struct header *h)
{
	return !memcmp(h->signature, SIGNATURE, sizeof(h->signature)) && h->version == VERSION &&
	       h->published_ns && h->size && h->size <= MAX_PAYLOAD;
}

/* The time stands before and after: the process may be writing. */
bool process_context_get(uint64_t address, process_context_read read, void *memory, fact_fn fn,
			 void *arg)
{
	struct header before, after;
	bool done = false;

	for (int i = 0; i < TRIES && !done; i++) {
		uint8_t *payload;

		if (!read(memory, address, &before, sizeof(before)) || !is_usable(&before))
			return false;
		payload = xmalloc(before.size);
		done = read(memory, before.payload, payload, before.size) &&
		       read(memory, address, &after, sizeof(after)) &&
		       !memcmp(&before, &after, sizeof(before));
		if (done)
			process_context_parse(payload, before.size, fn, arg);
		free(payload);
	}
	return done;
}
