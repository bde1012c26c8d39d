/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts: which numbers are numbers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metric/count.h"

#define SECOND 1000000000ull

static void all_the_time_is_as_counted(void **state)
{
	struct count c = count_make(123, SECOND, SECOND, true);

	assert_int_equal(c.state, COUNT_COUNTED);
	assert_float_equal(c.value, 123, 0);
	assert_true(count_is_there(&c));
	assert_float_equal(count_duty_pct(&c), 100, 0);
}

static void a_third_of_the_time_is_scaled(void **state)
{
	struct count c = count_make(1000, 3 * SECOND, SECOND, true);

	assert_int_equal(c.state, COUNT_SCALED);
	assert_float_equal(c.value, 3000, 1e-9);
	assert_int_equal(c.raw, 1000);
	assert_true(count_is_there(&c));
	assert_float_equal(count_duty_pct(&c), 100.0 / 3, 1e-9);
}

static void large_counts_do_not_overflow(void **state)
{
	struct count c = count_make(UINT64_MAX, 4 * SECOND, SECOND, true);

	assert_float_equal(c.value / 0x1p64, 4, 1e-9);
}

static void without_time_there_is_no_count(void **state)
{
	struct count never = count_make(0, SECOND, 0, true), off = count_make(0, 0, 0, true);

	assert_int_equal(never.state, COUNT_NOT_COUNTED);
	assert_int_equal(off.state, COUNT_NOT_COUNTED);
	assert_false(count_is_there(&never));
	assert_float_equal(count_duty_pct(&never), 0, 0);
	assert_float_equal(count_duty_pct(&off), 0, 0);
}

/* Arm's driver opens any number, and what the PMU does not have counts 0 all the time. */
static void zero_of_an_event_that_nobody_lists_is_none(void **state)
{
	struct count hidden = count_make(0, SECOND, SECOND, false);
	struct count scaled = count_make(0, 2 * SECOND, SECOND, false);
	struct count listed = count_make(0, SECOND, SECOND, true);
	struct count counts = count_make(7, 2 * SECOND, SECOND, false);

	assert_int_equal(hidden.state, COUNT_NOT_ADVERTISED);
	assert_int_equal(scaled.state, COUNT_NOT_ADVERTISED);
	assert_false(count_is_there(&hidden));
	assert_int_equal(listed.state, COUNT_COUNTED);
	assert_int_equal(counts.state, COUNT_SCALED);
	assert_float_equal(counts.value, 14, 1e-9);
}

static void errors_of_opening_have_states(void **state)
{
	static const int unsupported[] = { ENOENT, EINVAL, ENOSYS, ENXIO, EOPNOTSUPP, ENODEV };

	for (size_t i = 0; i < sizeof(unsupported) / sizeof(*unsupported); i++) {
		assert_int_equal(count_missing(unsupported[i]).state, COUNT_NOT_SUPPORTED);
		assert_int_equal(count_missing(-unsupported[i]).state, COUNT_NOT_SUPPORTED);
	}
	assert_int_equal(count_missing(EACCES).state, COUNT_NO_PERMISSION);
	assert_int_equal(count_missing(-EPERM).state, COUNT_NO_PERMISSION);
	assert_int_equal(count_missing(0).state, COUNT_LOST);
	assert_int_equal(count_missing(EMFILE).state, COUNT_NOT_COUNTED);
}

static void states_have_keys_and_texts(void **state)
{
	assert_string_equal(count_state_key(COUNT_COUNTED), "counted");
	assert_string_equal(count_state_key(COUNT_NO_PERMISSION), "no-permission");
	assert_string_equal(count_state_text(COUNT_SCALED), "");
	assert_string_equal(count_state_text(COUNT_LOST), "<lost>");
	assert_string_equal(count_state_text(COUNT_NOT_COUNTED), "<not counted>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_the_time_is_as_counted),
		cmocka_unit_test(a_third_of_the_time_is_scaled),
		cmocka_unit_test(large_counts_do_not_overflow),
		cmocka_unit_test(without_time_there_is_no_count),
		cmocka_unit_test(zero_of_an_event_that_nobody_lists_is_none),
		cmocka_unit_test(errors_of_opening_have_states),
		cmocka_unit_test(states_have_keys_and_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
