/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/labels.h"

static void names_are_in_order_and_have_one_value(void **state)
{
	struct labels l = {};

	(void)state;
	labels_set(&l, "pod", "a");
	labels_set(&l, "container", "c");
	labels_set(&l, "unit", "u");
	labels_set(&l, "pod", "b");
	assert_int_equal(l.nr, 3);
	assert_string_equal(l.v[0].name, "container");
	assert_string_equal(l.v[1].name, "pod");
	assert_string_equal(labels_get(&l, "pod"), "b");
	assert_null(labels_get(&l, "po"));
	labels_set(&l, "pod", labels_get(&l, "pod"));
	assert_string_equal(labels_get(&l, "pod"), "b");
	labels_release(&l);
}

static void an_empty_value_takes_the_name_away(void **state)
{
	struct labels l = {};

	(void)state;
	labels_set(&l, "a", "");
	assert_int_equal(l.nr, 0);
	labels_set(&l, "a", "1");
	labels_set(&l, "b", "2");
	labels_set(&l, "a", NULL);
	assert_int_equal(l.nr, 1);
	assert_string_equal(l.v[0].name, "b");
	labels_release(&l);
}

static void copies_are_equal_until_one_changes(void **state)
{
	struct labels a = {}, b = {};

	(void)state;
	labels_set(&a, "x", "1");
	labels_set(&b, "gone", "1");
	labels_copy(&b, &a);
	assert_int_equal(labels_compare(&a, &b), 0);
	labels_set(&b, "x", "2");
	assert_true(labels_compare(&a, &b) < 0);
	labels_set(&a, "x", "2");
	labels_set(&a, "y", "");
	labels_set(&a, "z", "1");
	assert_true(labels_compare(&a, &b) > 0);
	labels_copy(&a, &a);
	assert_string_equal(labels_get(&a, "z"), "1");
	labels_release(&a);
	labels_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_in_order_and_have_one_value),
		cmocka_unit_test(an_empty_value_takes_the_name_away),
		cmocka_unit_test(copies_are_equal_until_one_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
