/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for a CPU: buckets, and what is read off them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "bpf/hist.h"
#include "profile/runqlat.h"

#define NR_VALUES 100000

static void hist_count(struct prof_hist *h, uint64_t ns, uint64_t nr)
{
	h->count[prof_hist_index(ns)] += nr;
	h->sum_ns += nr * ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* 2^8 to 2^max ns: every order of magnitude equally often. */
static uint64_t random_ns(unsigned int max)
{
	uint64_t leading = 1ull << (8 + random_next() % (max - 8));

	return leading + random_next() % leading;
}

static void every_edge_has_its_bucket(void **state)
{
	for (size_t i = 0; i < PROF_HIST_BUCKETS; i++) {
		assert_int_equal(prof_hist_index(runqlat_bucket_ns(i)), i);
		assert_true(runqlat_bucket_ns(i) < runqlat_bucket_ns(i + 1));
		if (i < PROF_HIST_BUCKETS - 1)
			assert_int_equal(prof_hist_index(runqlat_bucket_ns(i + 1) - 1), i);
	}
	assert_int_equal(prof_hist_index(UINT64_MAX), PROF_HIST_BUCKETS - 1);
	for (unsigned int log = 40; log < 64; log++)
		assert_int_equal(prof_hist_index(1ull << log), PROF_HIST_BUCKETS - 1);
}

/* As prof.h has it: bucket 4 * e + k - 4 begins at (4 + k) << (e - 2). */
static void bounds_are_as_the_contract_says(void **state)
{
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(runqlat_bucket_ns(i), i);
	for (uint64_t e = 2; e < 40; e++)
		for (uint64_t k = 0; k < 4; k++)
			assert_int_equal(runqlat_bucket_ns(4 * e + k - 4), (4 + k) << (e - 2));
	assert_true(runqlat_bucket_ns(PROF_HIST_BUCKETS) == UINT64_MAX);
	for (uint64_t ns = 0; ns < 1 << 16; ns++) {
		size_t i = prof_hist_index(ns);

		assert_true(runqlat_bucket_ns(i) <= ns && ns < runqlat_bucket_ns(i + 1));
	}
}

static int by_value(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* nr sorted values against what their histogram says of them. */
static void check_percentiles(uint64_t *values, size_t nr)
{
	static const double pcts[] = { 0.1, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100 };
	struct prof_hist h = { 0 };

	for (size_t i = 0; i < nr; i++)
		hist_count(&h, values[i], 1);
	qsort(values, nr, sizeof(*values), by_value);
	for (size_t i = 0; i < sizeof(pcts) / sizeof(*pcts); i++) {
		double rank = pcts[i] * nr / 100, got = runqlat_percentile_ns(&h, pcts[i]);
		uint64_t want = values[(size_t)rank - (rank == (size_t)rank)];
		size_t bucket = prof_hist_index(want);
		double width = runqlat_bucket_ns(bucket + 1) - runqlat_bucket_ns(bucket);

		assert_true(got >= want - width && got <= want + width);
		assert_true(got <= values[nr - 1]);
	}
	assert_true(runqlat_percentile_ns(&h, 100) == values[nr - 1]);
}

static void percentiles_are_off_by_less_than_a_bucket(void **state)
{
	uint64_t *values = xcalloc(NR_VALUES, sizeof(*values));

	for (unsigned int max = 12; max <= 38; max += 13) {
		for (size_t i = 0; i < NR_VALUES; i++)
			values[i] = random_ns(max);
		check_percentiles(values, NR_VALUES);
	}
	for (size_t i = 0; i < NR_VALUES; i++)
		values[i] = 5000 + random_next() % 300;
	check_percentiles(values, NR_VALUES);
	for (size_t nr = 1; nr < 50; nr++) {
		for (size_t i = 0; i < nr; i++)
			values[i] = random_ns(30);
		check_percentiles(values, nr);
	}
	free(values);
}

static void percentiles_never_exceed_the_longest(void **state)
{
	struct prof_hist h = { 0 };

	assert_true(runqlat_percentile_ns(&h, 99) == 0);
	assert_int_equal(runqlat_max_ns(&h), 0);
	hist_count(&h, 5001, 1);
	for (size_t i = 0; i < RUNQLAT_NR_PCTS; i++)
		assert_true(runqlat_percentile_ns(&h, latency_pcts[i]) == 5001);
	hist_count(&h, 5001, 999);
	for (size_t i = 0; i < RUNQLAT_NR_PCTS; i++)
		assert_true(runqlat_percentile_ns(&h, latency_pcts[i]) <= 5001);
	memset(&h, 0, sizeof(h));
	hist_count(&h, 3600ull * 1000000000, 3); /* in the bucket without an end */
	assert_true(runqlat_percentile_ns(&h, 99) <= 3600e9);
	assert_true(runqlat_percentile_ns(&h, 99) > 3500e9);
	h.max_ns = UINT64_MAX;
	assert_true(runqlat_percentile_ns(&h, 100) <= 18446744073709551616.0);
}

/* A wait is counted before its length becomes the longest. */
static void a_torn_snapshot_does_no_harm(void **state)
{
	struct prof_hist h = { 0 };
	uint64_t counts[RUNQLAT_LOG2_MAX];

	hist_count(&h, 1000, 10);
	h.count[prof_hist_index(70000)]++;
	assert_int_equal(runqlat_max_ns(&h), 65536);
	assert_true(runqlat_percentile_ns(&h, 99.9) == 65536);
	assert_true(runqlat_percentile_ns(&h, 50) <= 1024);
	assert_int_equal(runqlat_log2(&h, 1000, counts), 7);
	assert_int_equal(counts[0], 10);
	assert_int_equal(counts[6], 1);
	h.max_ns = 1 << 30; /* the other way round */
	assert_true(runqlat_percentile_ns(&h, 100) <= 1 << 30);
	assert_int_equal(runqlat_log2(&h, 1000, counts), 7);
}

static void an_interval_is_now_less_before(void **state)
{
	struct prof_hist h = { 0 }, before, part = { 0 };

	for (size_t i = 0; i < 1000; i++)
		hist_count(&h, random_ns(30), 1);
	before = h;
	for (size_t i = 0; i < 1000; i++) {
		uint64_t ns = random_ns(20);

		hist_count(&h, ns, 1);
		hist_count(&part, ns, 1);
	}
	runqlat_subtract(&h, &before, part.max_ns);
	assert_memory_equal(&h, &part, sizeof(h));
	runqlat_subtract(&h, &before, 0); /* never below zero */
	assert_true(runqlat_count(&h) <= 1000);
	runqlat_subtract(&part, &part, 0);
	assert_int_equal(runqlat_count(&part), 0);
	assert_int_equal(part.sum_ns, 0);
}

static void sums_have_everything(void **state)
{
	struct runqlat_row rows[3] = { { .pid = 1 }, { .pid = 2 }, { .pid = 3 } }, sum;
	struct prof_hist both;

	hist_count(&rows[0].hist[PROF_HIST_WOKEN], 1000, 4);
	hist_count(&rows[1].hist[PROF_HIST_WOKEN], 3000, 2);
	hist_count(&rows[1].hist[PROF_HIST_PREEMPTED], 9000, 1);
	runqlat_sum(rows, 3, &sum);
	runqlat_get(&sum, RUNQLAT_WOKEN, &both);
	assert_int_equal(runqlat_count(&both), 6);
	assert_int_equal(both.sum_ns, 10000);
	assert_int_equal(both.max_ns, 3000);
	runqlat_get(&sum, RUNQLAT_BOTH, &both);
	assert_int_equal(runqlat_count(&both), 7);
	assert_int_equal(both.sum_ns, 19000);
	assert_int_equal(runqlat_stats(&both).max_ns, 9000);
	assert_true(runqlat_stats(&both).mean_ns == 19000 / 7.0);
}

static void rows_are_sorted_by_time_waited(void **state)
{
	struct runqlat_row rows[5] = { { .pid = 5 }, { .pid = 4 }, { .pid = 3 }, { .pid = 2 } };
	const struct runqlat_row **sorted;
	size_t nr = 5;

	hist_count(&rows[0].hist[PROF_HIST_WOKEN], 1000, 4);
	hist_count(&rows[1].hist[PROF_HIST_PREEMPTED], 5000, 1);
	hist_count(&rows[3].hist[PROF_HIST_WOKEN], 4000, 1);
	hist_count(&rows[4].hist[PROF_HIST_WOKEN], 0, 1);
	sorted = runqlat_sorted(rows, &nr);
	assert_int_equal(nr, 4);
	assert_ptr_equal(sorted[0], &rows[1]);
	assert_ptr_equal(sorted[1], &rows[3]);
	assert_ptr_equal(sorted[2], &rows[0]);
	assert_ptr_equal(sorted[3], &rows[4]);
	free(sorted);
	nr = 0;
	free(runqlat_sorted(NULL, &nr));
}

static void names_of_rows_always_end(void **state)
{
	static struct prof_hist_row row = { .pid = 7, .tid = 8 };
	struct runqlat_row l;

	memset(row.comm, 'x', sizeof(row.comm));
	row.hist[PROF_HIST_PREEMPTED].sum_ns = 9;
	runqlat_take(&l, &row, 3);
	assert_string_equal(l.name, "xxxxxxxxxxxxxxx");
	assert_true(l.pid == 7 && l.tid == 8 && l.cpu == 3);
	assert_int_equal(l.hist[PROF_HIST_PREEMPTED].sum_ns, 9);
}

/* Every border is right but for the one bucket that lies across it. */
static void powers_of_two_have_every_wait(void **state)
{
	uint64_t counts[RUNQLAT_LOG2_MAX], want[RUNQLAT_LOG2_MAX] = { 0 }, sum, off;
	struct prof_hist h = { 0 };
	size_t nr, log;

	for (size_t i = 0; i < NR_VALUES; i++) {
		uint64_t ns = random_ns(36);

		hist_count(&h, ns, 1);
		for (log = 0; ns / 1000 >= 2ull << log;)
			log++;
		want[log]++;
	}
	nr = runqlat_log2(&h, 1000, counts);
	assert_int_equal(nr, 27); /* 2^36 ns is between 2^26 and 2^27 us */
	for (log = 0, sum = 0, off = 0; log < nr; log++) {
		uint64_t ns = (2000ull << log), across = h.count[prof_hist_index(ns)];

		sum += counts[log];
		off += want[log];
		assert_true(sum >= off ? sum - off <= across : off - sum <= across);
	}
	assert_int_equal(sum, NR_VALUES);
	for (; log < RUNQLAT_LOG2_MAX; log++)
		assert_int_equal(counts[log], 0);
}

static void powers_of_two_at_the_edges(void **state)
{
	uint64_t counts[RUNQLAT_LOG2_MAX];
	struct prof_hist h = { 0 };

	assert_int_equal(runqlat_log2(&h, 1000, counts), 0);
	hist_count(&h, 0, 3);
	assert_int_equal(runqlat_log2(&h, 1000, counts), 1);
	assert_int_equal(counts[0], 3);
	hist_count(&h, 1999, 1); /* the longest: its bucket goes on to 2047 */
	assert_int_equal(runqlat_log2(&h, 1000, counts), 1);
	assert_int_equal(counts[0], 4);
	hist_count(&h, 2000, 1);
	assert_int_equal(runqlat_log2(&h, 1000, counts), 2);
	assert_int_equal(counts[0] + counts[1], 5);
	assert_int_equal(runqlat_log2(&h, 1000000, counts), 1);
	hist_count(&h, UINT64_MAX, 7);
	assert_in_range(runqlat_log2(&h, 1, counts), 1, RUNQLAT_LOG2_MAX);
	assert_in_range(runqlat_log2(&h, 1000000, counts), 1, RUNQLAT_LOG2_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_edge_has_its_bucket),
		cmocka_unit_test(bounds_are_as_the_contract_says),
		cmocka_unit_test(percentiles_are_off_by_less_than_a_bucket),
		cmocka_unit_test(percentiles_never_exceed_the_longest),
		cmocka_unit_test(a_torn_snapshot_does_no_harm),
		cmocka_unit_test(an_interval_is_now_less_before),
		cmocka_unit_test(sums_have_everything),
		cmocka_unit_test(rows_are_sorted_by_time_waited),
		cmocka_unit_test(names_of_rows_always_end),
		cmocka_unit_test(powers_of_two_have_every_wait),
		cmocka_unit_test(powers_of_two_at_the_edges),
	};

	return cmocka_run_group_tests_name("latency", tests, NULL, NULL);
}
