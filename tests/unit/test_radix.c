/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows sorted by digits of their keys are in the order that comparisons give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/radix.h"

#define NR 5000

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Equal keys keep their order, and rest numbers the rows. */
static void assert_sorted(const struct radix_row *rows, size_t nr, unsigned int lowest)
{
	for (size_t i = 1; i < nr; i++) {
		uint64_t a = rows[i - 1].key >> lowest, b = rows[i].key >> lowest;

		assert_true(a < b || (a == b && rows[i - 1].rest < rows[i].rest));
	}
}

/* Frees them. sum: of all keys, of which none may be lost. */
static void sort_rows(struct radix_row *rows, size_t nr, unsigned int lowest, uint64_t sum)
{
	radix_sort(rows, nr, lowest);
	assert_sorted(rows, nr, lowest);
	for (size_t i = 0; i < nr; i++)
		sum -= rows[i].key;
	assert_int_equal(sum, 0);
	free(rows);
}

/* So many rows in order, then from the lowest key on again; the last run is shorter. */
static void sort_runs(size_t nr, size_t length, unsigned int lowest)
{
	struct radix_row *rows = calloc(nr + 1, sizeof(*rows));
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		rows[i] = (struct radix_row){ i % length * 3 + i / length, i };
		sum += rows[i].key;
	}
	sort_rows(rows, nr, lowest, sum);
}

static void sort_some(uint64_t mask, unsigned int lowest, size_t nr)
{
	struct radix_row *rows = calloc(nr + 1, sizeof(*rows));
	uint64_t state = 88172645463325252ull, sum = 0;

	for (size_t i = 0; i < nr; i++) {
		rows[i] = (struct radix_row){ next(&state) & mask, i };
		sum += rows[i].key;
	}
	sort_rows(rows, nr, lowest, sum);
}

static void any_keys(void **state)
{
	(void)state;
	sort_some(UINT64_MAX, 0, NR);
	sort_some(UINT64_MAX, 7, NR);
	sort_some(0xff, 0, NR);		 /* many alike */
	sort_some(0xff, 7, NR);		 /* but for the lowest bits */
	sort_some(0xffull << 56, 0, NR); /* in the last digit, which is no whole one */
	sort_some(0, 0, NR);
}

static void few_rows(void **state)
{
	(void)state;
	for (size_t nr = 0; nr < 4; nr++)
		sort_some(UINT64_MAX, 0, nr);
}

static void a_few_runs(void **state)
{
	(void)state;
	for (size_t nr_runs = 1; nr_runs < 20; nr_runs++)
		for (unsigned int lowest = 0; lowest < 4; lowest++) {
			sort_runs(NR, NR / nr_runs, lowest);
			sort_runs(nr_runs * 5, 5, lowest);
		}
	for (size_t nr = 4; nr < 40; nr++)
		sort_some(UINT64_MAX, 0, nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_keys),
		cmocka_unit_test(few_rows),
		cmocka_unit_test(a_few_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
