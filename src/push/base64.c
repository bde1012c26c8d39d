/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Three bytes are four characters; '=' stands for those that are missing at the end. */
#include "push/base64.h"

#include <stdint.h>

void base64_put(FILE *out, const void *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = bytes;

	for (; len; at += 3, len = len > 3 ? len - 3 : 0) {
		uint32_t word = at[0] << 16 | (len > 1 ? at[1] << 8 : 0) | (len > 2 ? at[2] : 0);
		char four[4];

		for (size_t i = 0; i < 4; i++)
			four[i] = i <= len ? digits[word >> (18 - 6 * i) & 63] : '=';
		fwrite(four, 1, sizeof(four), out);
	}
}
