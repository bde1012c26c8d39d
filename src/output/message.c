/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fields are a key (number and wire type), then a varint or a length with as many bytes. */
#include "output/message.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_VARINT 10 /* bytes, of seven bits each */

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

/* Room for so many bytes more; what grows doubles. */
static void reserve(struct message *m, size_t len)
{
	if (len <= m->cap - m->nr)
		return;
	m->cap = m->nr + len > 2 * m->cap ? m->nr + len : 2 * m->cap;
	m->bytes = xreallocarray(m->bytes, m->cap, 1);
}

static size_t varint_bytes(uint64_t n)
{
	size_t nr = 1;

	while (n >>= 7)
		nr++;
	return nr;
}

static void put_varint(struct message *m, uint64_t n)
{
	reserve(m, MAX_VARINT);
	for (; n > 0x7f; n >>= 7)
		m->bytes[m->nr++] = n | 0x80;
	m->bytes[m->nr++] = n;
}

static void put_key(struct message *m, uint32_t field, uint32_t wire)
{
	put_varint(m, (uint64_t)field << 3 | wire);
}

void message_number(struct message *m, uint32_t field, uint64_t n)
{
	if (!n)
		return;
	put_key(m, field, WIRE_VARINT);
	put_varint(m, n);
}

void message_fixed64(struct message *m, uint32_t field, uint64_t n)
{
	if (!n)
		return;
	put_key(m, field, WIRE_FIXED64);
	reserve(m, sizeof(n));
	for (size_t i = 0; i < sizeof(n); i++)
		m->bytes[m->nr++] = n >> (8 * i);
}

void message_element(struct message *m, uint32_t field, const void *bytes, size_t len)
{
	put_key(m, field, WIRE_BYTES);
	put_varint(m, len);
	reserve(m, len);
	if (len)
		memcpy(m->bytes + m->nr, bytes, len);
	m->nr += len;
}

void message_bytes(struct message *m, uint32_t field, const void *bytes, size_t len)
{
	if (len)
		message_element(m, field, bytes, len);
}

void message_numbers(struct message *m, uint32_t field, const uint64_t *v, size_t nr)
{
	size_t len = 0;

	if (!nr)
		return;
	for (size_t i = 0; i < nr; i++)
		len += varint_bytes(v[i]);
	put_key(m, field, WIRE_BYTES);
	put_varint(m, len);
	for (size_t i = 0; i < nr; i++)
		put_varint(m, v[i]);
}

void message_release(struct message *m)
{
	free(m->bytes);
	*m = (struct message){};
}
