/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was expected: periods of timers, fixed periods, what the kernel counts, and the verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/due.h"
#include "event/kernel_counts.h"
#include "output/output.h"
#include "profile/expected.h"
#include "profile/profile.h"

#define MS 1000000ull

static struct due_moment at(uint64_t from_ns, uint64_t to_ns)
{
	return (struct due_moment){ from_ns, to_ns };
}

static void test_timer_has_a_sample_per_whole_period(void **state)
{
	struct due_timer t = {};
	struct due d = {};

	(void)state;
	due_turn(&d, &t, at(5 * MS, 5 * MS), 10 * MS);
	assert_int_equal(d.most, 0); /* it did not run before */
	due_turn(&d, &t, at(104 * MS, 104 * MS), 20 * MS);
	assert_int_equal(d.least, 9);
	assert_int_equal(d.most, 9);
	due_turn(&d, &t, at(204 * MS, 204 * MS), 0);
	assert_int_equal(d.least, 13); /* the fifth may have been under way */
	assert_int_equal(d.most, 14);
	due_turn(&d, &t, at(900 * MS, 900 * MS), 0); /* it was off */
	assert_int_equal(d.most, 14);
}

static void test_moments_are_intervals(void **state)
{
	struct due_timer t = { at(10 * MS, 30 * MS), 10 * MS };
	struct due d = {};

	(void)state;
	due_turn(&d, &t, at(105 * MS, 125 * MS), 0);
	assert_int_equal(d.least, 7);
	assert_int_equal(d.most, 11);
	t = (struct due_timer){ at(10 * MS, 30 * MS), 10 * MS };
	due_turn(&d, &t, at(20 * MS, 25 * MS), 0); /* perhaps it never ran */
	assert_int_equal(d.least, 7);
	assert_int_equal(d.most, 12);
}

static void test_fixed_periods_are_counts(void **state)
{
	struct due d = {};

	(void)state;
	due_count(&d, 1000, 7, 7);
	assert_int_equal(d.least, 141);
	assert_int_equal(d.most, 142);
	due_count(&d, 5, 1, 0);
	assert_int_equal(d.least, 146);
	due_count(&d, 5, 100, 100);
	due_count(&d, 99, 0, 0); /* by rate */
	assert_int_equal(d.least, 146);
	assert_int_equal(d.most, 147);
}

static void test_time_away_may_lack(void **state)
{
	struct due d = { 1000, 1000 };

	(void)state;
	due_may_lack(&d, 0, 10);
	assert_int_equal(d.least, 1000);
	due_may_lack(&d, 1, 10);
	assert_int_equal(d.least, 899);
	assert_int_equal(d.most, 1000);
	due_may_lack(&d, 20, 10);
	assert_int_equal(d.least, 0);
}

static struct kernel_counts parsed(const char *text)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	struct kernel_counts c = kernel_counts_parse(f);

	fclose(f);
	return c;
}

static void test_counts_of_the_kernel(void **state)
{
	uint64_t tick = 1000000000ull / sysconf(_SC_CLK_TCK);
	struct kernel_counts from, to;

	(void)state;
	from = parsed("cpu  100 10 200 5000 60 7 8 90 50 0\n"
		      "cpu0 50 5 100 2500 30 3 4 45 25 0\n"
		      "intr 12 0 9\nctxt 147470625\nbtime 1\n");
	assert_int_equal(from.ran_ns, (100 + 10 + 200 + 7 + 8) * tick);
	assert_int_equal(from.switches, 147470625);
	to = from;
	to.time_ns += 50 * tick;
	to.ran_ns += 80 * tick;
	assert_int_equal(kernel_counts_away_ns(&from, &to, 2), 22 * tick);
	to.ran_ns += 80 * tick; /* more than there can be */
	assert_int_equal(kernel_counts_away_ns(&from, &to, 2), 2 * tick);
	assert_int_equal(parsed("cpu  1 2 3\n").switches, 0);
}

static void test_verdict(void **state)
{
	struct expected x = { .least = 990, .most = 1010, .seen = 1000 };

	(void)state;
	assert_float_equal(expected_difference_pct(&x), 0, 0);
	assert_float_equal(expected_lack_pct(&x), 0, 0);
	x.lost = 20;
	x.ledger = 1000;
	assert_float_equal(expected_lack_pct(&x), 2, 1e-9);
	x.ledger = 4000; /* and wake-ups, which nobody else counts */
	assert_float_equal(expected_lack_pct(&x), 0.5, 1e-9);
	x.ledger = x.seen = 891;
	assert_float_equal(expected_difference_pct(&x), -10, 1e-9);
	assert_float_equal(expected_lack_pct(&x), 100.0 * (99 + 20) / 990, 1e-9);
	x.seen = 1111;
	assert_float_equal(expected_difference_pct(&x), 10, 1e-9);
	x = (struct expected){ .seen = 200, .lost = 1, .ledger = 200 }; /* not known */
	assert_float_equal(expected_difference_pct(&x), 0, 0);
	assert_float_equal(expected_lack_pct(&x), 0.5, 1e-9);
	x = (struct expected){};
	assert_float_equal(expected_lack_pct(&x), 0, 0);
}

static void test_a_profile_says_what_was_seen_of_it(void **state)
{
	struct profile p = {
		.meta = { .expected_least = 990, .expected_most = 1010, .expected_seen = 891 }
	};
	struct expected x;

	(void)state;
	p.counters[PROF_SEEN] = 1500; /* filtered ones, too */
	p.counters[PROF_LOST_TIME] = 9;
	assert_true(expected_init(&x, &p));
	assert_int_equal(x.seen, 891);
	assert_int_equal(x.lost, 9);
	assert_float_equal(expected_difference_pct(&x), -10, 1e-9);
	p.meta.expected_least = p.meta.expected_most = 0;
	assert_false(expected_init(&x, &p));
	assert_int_equal(x.seen, 1500);
}

static void check_words(uint64_t seen, const char *words)
{
	const struct expected x = { .least = 1000, .most = 1000, .seen = seen };
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	expected_put(&x, "samples", f);
	fclose(f);
	assert_non_null(strstr(text, words));
	free(text);
}

/* Half a percent is what the edges of a recording on a busy host may be. */
static void little_that_is_missing_is_no_alarm(void **state)
{
	(void)state;
	check_words(1000, ": none missing");
	check_words(996, ": 0.40% missing");
	check_words(994, ": 0.60% MISSING");
	check_words(1010, ": 1.00% too many");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timer_has_a_sample_per_whole_period),
		cmocka_unit_test(test_moments_are_intervals),
		cmocka_unit_test(test_fixed_periods_are_counts),
		cmocka_unit_test(test_time_away_may_lack),
		cmocka_unit_test(test_counts_of_the_kernel),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_a_profile_says_what_was_seen_of_it),
		cmocka_unit_test(little_that_is_missing_is_no_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
