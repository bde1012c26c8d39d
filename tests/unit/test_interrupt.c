/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an interrupt costs, on hosts that stand still now and then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/interrupt.h"

#define STALL 112000000u

/* Rounds, the last one for ever. */
struct rounds {
	const uint64_t *ns;
	size_t nr, at;
};

static uint64_t next_round(void *arg)
{
	struct rounds *r = arg;

	return r->ns[r->at + 1 < r->nr ? r->at++ : r->at];
}

static uint64_t least_of(const uint64_t *ns, size_t nr)
{
	return interrupt_least_ns(next_round, &(struct rounds){ ns, nr, 0 });
}

static void test_stalls_do_not_count(void **state)
{
	static const uint64_t quiet[] = { 1300, 900, 1200 },
			      stalled[] = { STALL, 1200, STALL, 900, 1300 },
			      slow[] = { STALL, STALL, 40000, 12000, 30000 };

	assert_int_equal(least_of(quiet, 3), 900);
	assert_int_equal(least_of(stalled, 5), 900);
	assert_int_equal(least_of(slow, 5), 12000);
}

/* Then nothing is known, which ends: nobody is refused for it. */
static void test_nothing_but_stalls(void **state)
{
	static const uint64_t all[] = { STALL }, none[] = { 0 };

	assert_int_equal(least_of(all, 1), 0);
	assert_int_equal(least_of(none, 1), 0);
}

static void test_here(void **state)
{
	assert_true(interrupt_price_ns() <= 1000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stalls_do_not_count),
		cmocka_unit_test(test_nothing_but_stalls),
		cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
