/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples by bytes stand for what was allocated: simulated as bpf/alloc.bpf.c does it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collect/alloc.h"

#define EVERY	   (512u << 10)
#define NR_SAMPLES 400000 /* a standard deviation of 0.16 % at most */

/* Any generator whose bits are good: xorshift64*. */
static uint64_t state = 88172645463325252ull;

static uint32_t any(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ull >> 32;
}

struct sums {
	double bytes, objects;	       /* allocated */
	double bytes_est, objects_est; /* what samples stand for */
};

static void check(const struct sums *s)
{
	double bytes = s->bytes_est / s->bytes - 1, objects = s->objects_est / s->objects - 1;

	if (fabs(bytes) >= 0.01 || fabs(objects) >= 0.01)
		fail_msg("bytes off by %.2f %%, objects by %.2f %%", 100 * bytes, 100 * objects);
}

static void take(struct sums *s, uint64_t size)
{
	double w = alloc_weight(size, EVERY);

	s->bytes_est += w;
	s->objects_est += w / size;
}

/* All of one size: the next draw/size-th one is sampled. */
static void simulate_size(uint64_t size)
{
	uint64_t draws[ALLOC_DRAWS];
	struct sums s = {};

	alloc_draws(EVERY, draws);
	for (int i = 0; i < NR_SAMPLES; i++) {
		uint64_t draw = draws[any() % ALLOC_DRAWS];
		uint64_t nr = draw ? (draw + size - 1) / size : 1;

		s.bytes += nr * size;
		s.objects += nr;
		take(&s, size);
	}
	check(&s);
}

static void each_size_is_unbiased(void **arg)
{
	static const uint64_t sizes[] = {
		1,	   16,	  100,		 4096,	       50000,
		EVERY / 3, EVERY, EVERY * 5 / 4, 3ull * EVERY, 20ull * EVERY
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		simulate_size(sizes[i]);
}

/* Small and large ones in turn, each estimated by itself. */
static void mixed_sizes_are_unbiased(void **arg)
{
	static const uint64_t sizes[] = { 2000, 9000, 200000, 700000, 3000000 };
	enum { NR = sizeof(sizes) / sizeof(*sizes) };
	struct sums s[NR] = {}, all = {};
	uint64_t draws[ALLOC_DRAWS];
	int64_t left;

	alloc_draws(EVERY, draws);
	left = draws[any() % ALLOC_DRAWS];
	for (int i = 0; i < 20000000; i++) {
		int k = any() % 100;

		k = k < 60 ? 0 : k < 90 ? 1 : k < 96 ? 2 : k < 98 ? 3 : 4;
		s[k].bytes += sizes[k];
		s[k].objects++;
		left -= sizes[k];
		if (left > 0)
			continue;
		left = draws[any() % ALLOC_DRAWS];
		take(&s[k], sizes[k]);
	}
	for (int k = 0; k < NR; k++) {
		check(&s[k]);
		all.bytes += s[k].bytes;
		all.objects += s[k].objects;
		all.bytes_est += s[k].bytes_est;
		all.objects_est += s[k].objects_est;
	}
	check(&all);
}

static void draws_have_the_mean(void **arg)
{
	uint64_t draws[ALLOC_DRAWS], sum = 0;

	alloc_draws(EVERY, draws);
	for (int i = 0; i < ALLOC_DRAWS; i++) {
		sum += draws[i];
		assert_true(!i || draws[i] >= draws[i - 1]);
	}
	assert_true(llabs((long long)sum - (long long)EVERY * ALLOC_DRAWS) <= ALLOC_DRAWS);
}

static void weights_have_their_limits(void **arg)
{
	assert_true(fabs(alloc_weight(1, EVERY) - EVERY - 0.5) < 0.01);
	assert_true(fabs(alloc_weight(100ull * EVERY, EVERY) - 100.0 * EVERY) < 0.01);
	assert_true(fabs(alloc_weight(EVERY, EVERY) - EVERY / (1 - exp(-1))) < 0.01);
	assert_true(fabs(alloc_weight(64, 1) - 64) < 0.01);
}

static void sizes_fit_their_code(void **arg)
{
	static const uint64_t exact[] = { 1, 4095, ALLOC_LARGE - 1, 1ull << 31, 5ull << 40 };

	for (size_t i = 0; i < sizeof(exact) / sizeof(*exact); i++)
		assert_int_equal(ALLOC_BYTES(ALLOC_CODE(exact[i])), exact[i]);
	assert_int_equal(ALLOC_BYTES(ALLOC_CODE((1ull << 33) + 12345)), 1ull << 33);
	assert_int_equal(ALLOC_BYTES(ALLOC_CODE(ALLOC_MOST)), ALLOC_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_size_is_unbiased),
		cmocka_unit_test(mixed_sizes_are_unbiased),
		cmocka_unit_test(draws_have_the_mean),
		cmocka_unit_test(weights_have_their_limits),
		cmocka_unit_test(sizes_fit_their_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
