/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Periods that change, against programs that go round in a fixed time. All is drawn from fixed
 * seeds, so a run tells what the one before told.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "event/dither.h"

#define S	5.0 /* seconds of a recording */
#define NS	1e9
#define RUNS	20
#define LEN(a)	(sizeof(a) / sizeof(*(a)))
#define BOUND	3.0    /* standard deviations of independent sampling */
#define LATE_NS 100000 /* the caller comes that late, at most */

static const uint32_t rates[] = { 19,  20,  25,	 40,  49,  50,	 97,   99,   100,
				  199, 250, 499, 500, 999, 1000, 1999, 4000, 4999 };
static const double periods_ms[] = { 1, 2, 4, 5, 10, 20, 50, 100, 10.0 / 3 };
static const double ends[] = { 0.5, 0.8, 1 }; /* of the program's functions, in its period */

static uint64_t state;

static double random_part(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (state >> 11) * 0x1p-53;
}

struct run {
	struct dither dither;
	double period_ns, phase; /* of the program */
	uint64_t in[LEN(ends)], nr;
};

static void take(struct run *r, uint64_t time_ns)
{
	double at = time_ns / r->period_ns + r->phase;
	size_t i = 0;

	at -= floor(at);
	while (at >= ends[i])
		i++;
	r->in[i]++;
	r->nr++;
}

/* As the kernel does: a change begins a new period, and what had passed of the old one is lost. */
static void sample(struct run *r, uint32_t rate_hz)
{
	uint64_t begin = 12345678901ull + random_part() * NS, end = begin + S * NS, at, next;
	struct dither_cpu c = {};

	dither_init(&r->dither, rate_hz, random_part() * 0x1p60, begin);
	dither_draw(&r->dither, &c, begin);
	for (at = begin; at < end; at = next) {
		next = r->dither.end_ns + random_part() * LATE_NS;
		if (next > end)
			next = end;
		for (uint64_t t = at + c.period_ns; t <= next; t += c.period_ns)
			take(r, t);
		dither_draw(&r->dither, &c, next);
		dither_begin(&r->dither, next);
	}
}

/* The share that is furthest off, in standard deviations of independent sampling. */
static double furthest(const struct run *r, uint32_t rate_hz)
{
	double from = 0, most = 0, share, off;

	for (size_t i = 0; i < LEN(ends); i++) {
		share = ends[i] - from;
		from = ends[i];
		off = fabs((double)r->in[i] / r->nr - share) /
		      sqrt(share * (1 - share) / (rate_hz * S));
		if (off > most)
			most = off;
	}
	return most;
}

/* Programs that go by the wall's clock, and some whose own takes a little longer. */
static double length_ns(size_t period, int run)
{
	static const double longer[] = { 1, 1, 1.0005, 1.002 };

	return periods_ms[period] * 1e6 * longer[run % LEN(longer)];
}

/*
 * Independent sampling is beyond the bound in 0.9 % of such runs (of the largest of three shares);
 * a fixed period in 28 %, by up to 140 deviations.
 */
static void shares_are_as_good_as_independent_ones(void **unused)
{
	size_t beyond = 0, all = 0;
	double most = 0;

	state = 1;
	for (size_t i = 0; i < LEN(rates); i++)
		for (size_t k = 0; k < LEN(periods_ms); k++)
			for (int n = 0; n < RUNS; n++, all++) {
				struct run r = { .period_ns = length_ns(k, n),
						 .phase = random_part() };
				double off;

				sample(&r, rates[i]);
				off = furthest(&r, rates[i]);
				beyond += off > BOUND;
				most = off > most ? off : most;
			}
	printf("# %zu of %zu beyond %g deviations, at most %.1f\n", beyond, all, BOUND, most);
	assert_true(beyond * 200 <= all);
	assert_true(most < 6);
}

static void the_number_of_samples_is_as_promised(void **unused)
{
	state = 2;
	for (size_t i = 0; i < LEN(rates); i++)
		for (int n = 0; n < RUNS; n++) {
			struct run r = { .period_ns = 1e6 };

			sample(&r, rates[i]);
			assert_true(fabs(r.nr - rates[i] * S) <= 0.005 * rates[i] * S + 2);
		}
}

static void a_cpu_that_was_left_alone_owes_nothing(void **unused)
{
	struct dither_cpu c = {};
	struct dither d;

	dither_init(&d, 99, 7, 1000);
	dither_draw(&d, &c, 1000);
	dither_draw(&d, &c, 1000 + 3600 * 1000000000ull);
	assert_true(c.owed == 0);
	assert_true(fabs(c.period_ns * 99 / NS - 1) < 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_as_good_as_independent_ones),
		cmocka_unit_test(the_number_of_samples_is_as_promised),
		cmocka_unit_test(a_cpu_that_was_left_alone_owes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
