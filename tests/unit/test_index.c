/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/index.h"

#define NR 100000u

/* Element i of the array would be 3 * i. */
static bool is_triple(const void *arg, uint32_t id)
{
	return *(const uint32_t *)arg == 3 * id;
}

static uint32_t hash_of(uint32_t n)
{
	return index_hash(0, &n, sizeof(n));
}

static void what_was_added_is_found(void **state)
{
	struct index x = {};
	uint32_t n, id;

	(void)state;
	n = 0;
	assert_false(index_find(&x, hash_of(n), is_triple, &n, &id));
	for (uint32_t i = 0; i < NR; i++)
		index_add(&x, hash_of(3 * i), i);
	for (n = 0; n < 3 * NR; n++) {
		assert_int_equal(index_find(&x, hash_of(n), is_triple, &n, &id), n % 3 == 0);
		if (n % 3 == 0)
			assert_int_equal(id, n / 3);
	}
	index_release(&x);
}

/* All have the same hash, and collide with what comes behind the end of the table. */
static void equal_hashes_are_told_apart(void **state)
{
	struct index x = {};
	uint32_t n, id;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		index_add(&x, UINT32_MAX, i);
	for (n = 0; n < 600; n++)
		assert_int_equal(index_find(&x, UINT32_MAX, is_triple, &n, &id), n % 3 == 0);
	index_release(&x);
}

static void each_byte_counts(void **state)
{
	char bytes[21] = "twenty bytes of text";
	uint32_t hash = index_hash(7, bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(index_hash(7, bytes, sizeof(bytes)), hash);
	assert_int_not_equal(index_hash(8, bytes, sizeof(bytes)), hash);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] ^= 1;
		assert_int_not_equal(index_hash(7, bytes, sizeof(bytes)), hash);
		bytes[i] ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_found),
		cmocka_unit_test(equal_hashes_are_told_apart),
		cmocka_unit_test(each_byte_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
