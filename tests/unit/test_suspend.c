/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Differences of clocks that were read one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collect/suspend.h"

static void a_first_reading_that_took_longer_is_no_suspend(void **state)
{
	assert_int_equal(suspend_between_ns(5000300, 5000100), 0);
	assert_int_equal(suspend_between_ns(50000000, 0), 0);
}

static void what_is_shorter_than_readings_may_differ_is_none(void **state)
{
	assert_int_equal(suspend_between_ns(100, 100), 0);
	assert_int_equal(suspend_between_ns(100, 9000100), 0);
}

static void a_suspend_is_as_long_as_it_was(void **state)
{
	assert_int_equal(suspend_between_ns(100, 3600000000100), 3600000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_first_reading_that_took_longer_is_no_suspend),
		cmocka_unit_test(what_is_shorter_than_readings_may_differ_is_none),
		cmocka_unit_test(a_suspend_is_as_long_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
