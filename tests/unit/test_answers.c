/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What sources of names said, as bytes that come from somebody else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/answers.h"

static uint8_t bytes[4096];

static struct answers two(size_t max)
{
	const struct answers_head head = { .nr_late = 3, .build_id = { 0xab }, .build_id_len = 20 };
	struct answer chain = {
		.found = { .chain = { { "inner", "a.c", 7, 5 }, { "outer", NULL, 0, 0 } }, .nr = 2 }
	};
	struct answer none = { .place = 0x1234, .is_entry = true };
	struct answers a = { bytes, 0, max };

	memset(bytes, 0, sizeof(bytes));
	answers_begin(&a, &head);
	answers_put(&a, &chain);
	answers_put(&a, &none);
	return (struct answers){ bytes, 0, a.nr };
}

static void they_come_back(void **state)
{
	struct answers a = two(sizeof(bytes));
	struct answers_head head;
	struct answer one;

	assert_true(answers_read(&a, &head));
	assert_int_equal(head.nr_late, 3);
	assert_int_equal(head.build_id[0], 0xab);
	assert_true(answers_next(&a, &one));
	assert_int_equal(one.found.nr, 2);
	assert_string_equal(one.found.chain[0].name, "inner");
	assert_string_equal(one.found.chain[0].file, "a.c");
	assert_int_equal(one.found.chain[0].line, 7);
	assert_int_equal(one.found.chain[0].begin, 5);
	assert_string_equal(one.found.chain[1].name, "outer");
	assert_null(one.found.chain[1].file);
	assert_true(answers_next(&a, &one));
	assert_int_equal(one.found.nr, 0);
	assert_int_equal(one.place, 0x1234);
	assert_true(one.is_entry);
	assert_false(answers_next(&a, &one));
}

/* Whatever there is room for comes back whole, and nothing behind what did not fit. */
static void room_may_end_anywhere(void **state)
{
	const size_t head_bytes = sizeof(struct answers_head);

	for (size_t max = 0; max < head_bytes + 260; max++) {
		struct answers a = two(max);
		struct answers_head head;
		struct answer one;
		size_t nr = 0;

		assert_true(a.max <= max);
		for (bool more = answers_read(&a, &head); more; nr += more)
			more = answers_next(&a, &one);
		assert_true(nr <= 2);
		assert_true(max < head_bytes + 160 || nr == 2);
	}
}

/* Every byte set to anything: nothing is read that is not there, and every string has its end. */
static void bytes_may_lie(void **state)
{
	struct answers whole = two(sizeof(bytes));

	for (size_t i = 0; i < whole.max; i++) {
		for (int value = 0; value < 256; value += 17) {
			struct answers a = two(sizeof(bytes));
			struct answers_head head;
			struct answer one;

			a.bytes = malloc(a.max); /* so that reading beyond is seen */
			memcpy(a.bytes, bytes, a.max);
			a.bytes[i] = value;
			if (answers_read(&a, &head)) {
				assert_true(head.build_id_len <= 20);
				while (answers_next(&a, &one))
					for (size_t k = 0; k < one.found.nr; k++)
						assert_true(strlen(one.found.chain[k].name) < 4096);
			}
			free(a.bytes);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_come_back),
		cmocka_unit_test(room_may_end_anywhere),
		cmocka_unit_test(bytes_may_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
