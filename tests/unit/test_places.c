/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The eight places of a thread: what is found, and which one goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/places.bpf.h"

#define NR_TRIALS 100000

/* What is there is found, and nothing else; zeroed memory holds nothing. */
static void test_find(void **state)
{
	struct places p = {};

	(void)state;
	assert_int_equal(places_find(&p, 1), 0);
	for (uint32_t i = 0; i < NR_PLACES; i++)
		p.keys[i] = (1ull << 63) + i + 1;
	for (uint32_t i = 0; i < NR_PLACES; i++)
		assert_int_equal(places_find(&p, (1ull << 63) + i + 1), i + 1);
	assert_int_equal(places_find(&p, 1ull << 63), 0);
	assert_int_equal(places_find(&p, 1), 0);
	p.keys[3] = 1;
	assert_int_equal(places_find(&p, 1), 4);
	p.keys[3] = ~0ull;
	assert_int_equal(places_find(&p, ~0ull), 4);
}

/* The last in a list that moves what is used to its front. */
static void test_oldest_goes(void **state)
{
	struct places p = {};
	uint32_t list[NR_PLACES], i, at;

	(void)state;
	srand(1);
	for (i = 0; i < NR_PLACES; i++) { /* so that the list is known */
		places_use(&p, i);
		list[NR_PLACES - 1 - i] = i;
	}
	for (int trial = 0; trial < NR_TRIALS; trial++) {
		assert_int_equal(places_oldest(&p), list[NR_PLACES - 1]);
		i = (uint32_t)rand() % NR_PLACES;
		places_use(&p, i);
		for (at = 0; list[at] != i; at++)
			;
		memmove(list + 1, list, at * sizeof(*list));
		list[0] = i;
	}
}

/* All eight are taken before one goes for another. */
static void test_fills_up(void **state)
{
	struct places p = {};
	uint32_t i;

	(void)state;
	for (uint64_t key = 1; key <= NR_PLACES; key++) {
		i = places_oldest(&p);
		assert_int_equal(p.keys[i], 0);
		p.keys[i] = key;
		places_use(&p, i);
	}
	assert_int_equal(p.keys[places_oldest(&p)], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_oldest_goes),
		cmocka_unit_test(test_fills_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
