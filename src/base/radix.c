/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* By digits of 11 bits, the lowest first; a digit that is the same in all rows costs one look. */
#include "base/radix.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DIGIT_BITS 11u
#define DIGITS	   (1u << DIGIT_BITS)

static uint32_t digit(const struct radix_row *row, unsigned int shift)
{
	return row->key >> shift & (DIGITS - 1);
}

static void pass(const struct radix_row *from, struct radix_row *to, size_t nr, unsigned int shift)
{
	size_t at[DIGITS] = {}, sum = 0, count;

	for (size_t i = 0; i < nr; i++)
		at[digit(&from[i], shift)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		count = at[i];
		at[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		to[at[digit(&from[i], shift)]++] = from[i];
}

/* Bits in which any two of the rows differ. */
static uint64_t differing(const struct radix_row *rows, size_t nr, unsigned int lowest,
			  bool *sorted)
{
	uint64_t any = 0;

	*sorted = true;
	for (size_t i = 1; i < nr; i++) {
		any |= rows[i].key ^ rows[0].key;
		*sorted = *sorted && rows[i - 1].key >> lowest <= rows[i].key >> lowest;
	}
	return any;
}

void radix_sort(struct radix_row *rows, size_t nr, unsigned int lowest_bit)
{
	struct radix_row *other, *from = rows, *to, *swap;
	bool sorted;
	uint64_t any = differing(rows, nr, lowest_bit, &sorted);

	if (sorted)
		return;
	other = to = xreallocarray(NULL, nr, sizeof(*other));
	for (unsigned int shift = lowest_bit; shift < 64; shift += DIGIT_BITS) {
		if (!(any >> shift & (DIGITS - 1)))
			continue;
		pass(from, to, nr, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != rows)
		memcpy(rows, from, nr * sizeof(*rows));
	free(other);
}
