/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines by weight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/source_lines.h"

static void heaviest_line_is_found(void **state)
{
	/* Of 5: line 2 has 3 + 4, line 1 has 6; of 7 two are equal, the first in order counts. */
	static const struct source_line rows[] = {
		{ 5, 1, 2, 3 }, { 7, 2, 9, 5 }, { 5, 1, 1, 6 }, { 5, 1, 2, 4 }, { 7, 1, 9, 5 },
	};
	struct source_lines l = {};

	source_lines_merge(&l);
	assert_null(source_lines_find(&l, 5));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		source_lines_add(&l, &rows[i]);
	source_lines_merge(&l);
	assert_int_equal(l.nr, 4);
	assert_int_equal(source_lines_find(&l, 5)->line, 2);
	assert_int_equal(source_lines_find(&l, 5)->weight, 7);
	assert_int_equal(source_lines_find(&l, 7)->file, 1);
	assert_null(source_lines_find(&l, 4));
	assert_null(source_lines_find(&l, 6));
	assert_null(source_lines_find(&l, 8));
	source_lines_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heaviest_line_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
