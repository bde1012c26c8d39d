/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Differences have their sign in the lowest bit: small ones of either sign are small numbers. */
#include "base/words.h"

static uint32_t fold(uint32_t difference)
{
	return difference << 1 ^ (difference >> 31 ? UINT32_MAX : 0);
}

static uint32_t unfold(uint32_t folded)
{
	return folded >> 1 ^ (folded & 1 ? UINT32_MAX : 0);
}

static uint8_t *put(uint8_t *to, uint32_t value)
{
	for (; value > 127; value >>= 7)
		*to++ = value | 128;
	*to++ = value;
	return to;
}

/* NULL: it ends too early, or is no 32-bit number. */
static const uint8_t *get(const uint8_t *from, const uint8_t *end, uint32_t *value)
{
	uint64_t sum = 0;

	for (unsigned int shift = 0; from < end && shift < 35; shift += 7) {
		sum |= (uint64_t)(*from & 127) << shift;
		if (*from++ < 128) {
			*value = sum;
			return sum > UINT32_MAX ? NULL : from;
		}
	}
	return NULL;
}

size_t words_pack(const uint32_t *rows, size_t nr, size_t width, uint8_t *to)
{
	uint8_t *at = to;

	for (size_t column = 0; column < width; column++) {
		uint32_t above = 0;

		for (size_t i = 0; i < nr; i++) {
			uint32_t word = rows[i * width + column];

			at = put(at, fold(word - above));
			above = word;
		}
	}
	return at - to;
}

bool words_open(const uint8_t *from, size_t len, uint32_t *rows, size_t nr, size_t width)
{
	const uint8_t *end = from + len;

	for (size_t column = 0; column < width; column++) {
		uint32_t word = 0, difference;

		for (size_t i = 0; i < nr; i++) {
			from = get(from, end, &difference);
			if (!from)
				return false;
			word += unfold(difference);
			rows[i * width + column] = word;
		}
	}
	return from == end;
}
