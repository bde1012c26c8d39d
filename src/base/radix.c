/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * By digits of 11 bits, the lowest first; a digit that is the same in all rows costs one look. Rows
 * that are in order but for a few places, as those of several rings are, are merged instead.
 */
#include "base/radix.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DIGIT_BITS 11u
#define DIGITS	   (1u << DIGIT_BITS)
#define FEW_RUNS   16 /* rows in order that follow each other: four passes without a table */

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

/* Bits in which any two of the rows differ, and how many runs of rows are in order. */
static uint64_t differing(const struct radix_row *rows, size_t nr, unsigned int lowest,
			  size_t *nr_runs)
{
	uint64_t any = 0;

	*nr_runs = nr > 0;
	for (size_t i = 1; i < nr; i++) {
		any |= rows[i].key ^ rows[0].key;
		*nr_runs += rows[i - 1].key >> lowest > rows[i].key >> lowest;
	}
	return any;
}

static size_t run_end(const struct radix_row *rows, size_t at, size_t nr, unsigned int lowest)
{
	while (++at < nr && rows[at - 1].key >> lowest <= rows[at].key >> lowest)
		;
	return at < nr ? at : nr;
}

/* Runs in pairs. False: it was one pair, all is in order. */
static bool merge_runs(const struct radix_row *from, struct radix_row *to, size_t nr,
		       unsigned int lowest)
{
	size_t a = 0, b, middle, end = 0, nr_pairs = 0;

	for (; end < nr; nr_pairs++) {
		a = end;
		b = middle = run_end(from, a, nr, lowest);
		end = middle < nr ? run_end(from, middle, nr, lowest) : nr;
		while (a < middle || b < end)
			*to++ = b == end || (a < middle &&
					     from[a].key >> lowest <= from[b].key >> lowest)
					? from[a++]
					: from[b++];
	}
	return nr_pairs > 1;
}

static void swap(struct radix_row **a, struct radix_row **b)
{
	struct radix_row *was = *a;

	*a = *b;
	*b = was;
}

void radix_sort(struct radix_row *rows, size_t nr, unsigned int lowest_bit)
{
	struct radix_row *other, *from = rows, *to;
	size_t nr_runs;
	uint64_t any = differing(rows, nr, lowest_bit, &nr_runs);
	bool more = nr_runs <= FEW_RUNS;

	if (nr_runs < 2)
		return;
	other = to = xreallocarray(NULL, nr, sizeof(*other));
	while (more) {
		more = merge_runs(from, to, nr, lowest_bit);
		swap(&from, &to);
	}
	for (unsigned int shift = lowest_bit; nr_runs > FEW_RUNS && shift < 64;
	     shift += DIGIT_BITS) {
		if (!(any >> shift & (DIGITS - 1)))
			continue;
		pass(from, to, nr, shift);
		swap(&from, &to);
	}
	if (from != rows)
		memcpy(rows, from, nr * sizeof(*rows));
	free(other);
}
