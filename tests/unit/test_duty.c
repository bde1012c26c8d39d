/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Windows of probes, and what is made of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/duty.h"

#define MS 1000000ull

/* Windows of 50 ms, in which the program has so much CPU time and as many hits and samples. */
static void windows(struct duty *d, size_t nr, uint64_t cpu_ms, uint64_t hits,
		    const uint64_t *samples)
{
	struct duty_mark m = { .time_ns = MS };

	for (size_t i = 0; i < nr; i++) {
		duty_on(d, &m);
		m.time_ns += DUTY_WINDOW_NS;
		m.cpu_ns += cpu_ms * MS;
		m.hits += hits;
		m.samples += samples[i];
		duty_off(d, &m);
		m.time_ns = d->turn_ns;
		m.cpu_ns += 9 * cpu_ms * MS; /* as busy in the pause */
	}
	duty_on(d, &m);
}

static void without_it_nothing_is_due_and_nothing_scaled(void **state)
{
	struct duty d = {};

	assert_false(duty_is_due(&d, ~0ull));
	assert_float_equal(duty_factor(&d), 1, 0);
}

static void pauses_are_long_and_differ(void **state)
{
	static const uint64_t samples[] = { 1, 1, 1 };
	struct duty d = { .share = 0.1 };
	struct duty_mark m = { .time_ns = MS };
	uint64_t first, second;

	duty_on(&d, &m);
	assert_int_equal(d.turn_ns, MS + DUTY_WINDOW_NS);
	assert_false(duty_is_due(&d, MS));
	assert_true(duty_is_due(&d, d.turn_ns));
	m.time_ns = d.turn_ns;
	duty_off(&d, &m);
	first = d.turn_ns - m.time_ns;
	assert_in_range(first, 9 * DUTY_WINDOW_NS / 2, 9 * DUTY_WINDOW_NS / 2 * 3);
	duty_on(&d, &m);
	m.time_ns += DUTY_WINDOW_NS;
	duty_off(&d, &m);
	second = d.turn_ns - m.time_ns;
	assert_int_not_equal(first, second);
	windows(&d, 3, 1, 0, samples);
}

static void what_the_program_did_counts_not_the_time(void **state)
{
	static const uint64_t samples[] = { 10, 10, 10, 10 };
	struct duty free = { .share = 0.1 }, dear = { .share = 0.1, .price_ns = 1000 };

	windows(&free, 4, 20, 10000, samples);
	assert_float_equal(duty_factor(&free), 10, 1e-6); /* 20 ms of 200 */
	/* Of 20 ms the probes took 10, so a window stands for 10 ms of 190. */
	windows(&dear, 4, 20, 10000, samples);
	assert_float_equal(duty_burden(&dear), 0.5, 1e-6);
	assert_float_equal(duty_factor(&dear), 19, 1e-6);
	assert_float_equal(duty_price_error(&dear), 1.0 / 3, 1e-6);
	assert_float_equal(duty_price_error(&free), 0, 1e-6);
}

static void probes_that_took_all_are_not_taken_off_entirely(void **state)
{
	static const uint64_t samples[] = { 10, 10, 10 };
	struct duty d = { .share = 0.1, .price_ns = 1e6 };

	windows(&d, 3, 20, 10000, samples);
	assert_float_equal(duty_burden(&d), 1, 1e-6);
	assert_float_equal(duty_factor(&d), (20 * 0.2 + 180) / (20 * 0.2), 1e-6);
}

static void the_error_is_that_of_the_mean(void **state)
{
	static const uint64_t same[] = { 7, 7, 7 }, differ[] = { 8, 12, 8, 12 },
			      none[] = { 0, 0, 0 };
	struct duty a = { .share = 0.1 }, b = { .share = 0.1 }, c = { .share = 0.1 },
		    few = { .share = 0.1 };

	windows(&a, 3, 1, 0, same);
	assert_float_equal(duty_error(&a), 0, 1e-6);
	windows(&b, 4, 1, 0, differ);
	assert_float_equal(duty_error(&b), 2 * sqrt(16.0 / 3 / 4 * 0.9) / 10, 1e-6);
	windows(&c, 3, 1, 0, none);
	assert_true(isinf(duty_error(&c)));
	windows(&few, 2, 1, 0, same);
	assert_true(isinf(duty_error(&few)));
}

static void the_last_pause_counts(void **state)
{
	struct duty d = { .share = 0.01 };
	struct duty_mark m = { .time_ns = MS };

	duty_on(&d, &m);
	m.time_ns += DUTY_WINDOW_NS;
	m.cpu_ns = 10 * MS;
	duty_off(&d, &m);
	m.cpu_ns = 1000 * MS; /* one window, and a pause until the end */
	duty_end(&d, &m);
	assert_float_equal(duty_factor(&d), 100, 1e-6);
}

static void so_does_the_last_window(void **state)
{
	struct duty d = { .share = 0.5 };
	struct duty_mark m = { .time_ns = MS };

	duty_on(&d, &m);
	m.time_ns += DUTY_WINDOW_NS / 2;
	m.cpu_ns = 10 * MS;
	duty_end(&d, &m);
	assert_float_equal(duty_factor(&d), 1, 1e-6);
	assert_int_equal(d.nr, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_it_nothing_is_due_and_nothing_scaled),
		cmocka_unit_test(pauses_are_long_and_differ),
		cmocka_unit_test(what_the_program_did_counts_not_the_time),
		cmocka_unit_test(probes_that_took_all_are_not_taken_off_entirely),
		cmocka_unit_test(the_error_is_that_of_the_mean),
		cmocka_unit_test(the_last_pause_counts),
		cmocka_unit_test(so_does_the_last_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
