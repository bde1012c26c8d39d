/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Segments: where ranges come from, what rests, and what the kernel is asked for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "unwind/segments.h"

#define SECOND 1000000000ull

struct kernel {
	bool made[TABLE_MAX_SEGMENTS];
	int nr_made, nr_dropped;
	bool slow; /* says "in progress" once per segment */
	bool asked[TABLE_MAX_SEGMENTS];
};

static int make(void *arg, uint32_t index, void *at)
{
	struct kernel *k = arg;

	if (k->slow && !k->asked[index]) {
		k->asked[index] = true;
		return -EINPROGRESS;
	}
	assert_false(k->made[index]);
	k->made[index] = true;
	k->nr_made++;
	assert_true(mmap(at, TABLE_SEGMENT_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == at);
	return 0;
}

static void drop(void *arg, uint32_t index, void *at)
{
	struct kernel *k = arg;

	assert_true(k->made[index]);
	k->made[index] = false;
	k->nr_dropped++;
}

static void setup(struct segments *s, struct kernel *k, uint32_t max)
{
	assert_int_equal(segments_init(s, make, drop, k, (uint64_t)max * TABLE_SEGMENT_BYTES), 0);
}

static void ranges_do_not_overlap(void **state)
{
	struct kernel k = {};
	struct segments s;
	uint32_t words[64], n = 40000;

	setup(&s, &k, 4);
	for (size_t i = 0; i < 64; i++) {
		assert_int_equal(segments_take(&s, n, &words[i]), 0);
		memset(s.words + words[i], (int)i + 1, n * 4);
	}
	for (size_t i = 0; i < 64; i++)
		for (uint32_t w = 0; w < n; w += 4999)
			assert_int_equal(s.words[words[i] + w] & 0xff, i + 1);
	assert_int_equal(k.nr_made, 3); /* 26 of them fit one */
	segments_release(&s);
	assert_int_equal(k.nr_dropped, 3);
}

static void no_range_lies_across_two_segments(void **state)
{
	struct kernel k = {};
	struct segments s;
	uint32_t word;

	setup(&s, &k, 8);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS / 2 + 8, &word), 0);
		assert_int_equal(word & (TABLE_SEGMENT_WORDS - 1), 0);
	}
	segments_release(&s);
}

static void a_large_range_begins_with_a_segment(void **state)
{
	struct kernel k = {};
	struct segments s;
	uint32_t small, large, tail;

	setup(&s, &k, 4);
	assert_int_equal(segments_take(&s, 2000, &small), 0);
	assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS + 1000, &large), 0);
	assert_int_equal(large, TABLE_SEGMENT_WORDS);
	/* What is left of its last segment is not wasted. */
	assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS - 1000, &tail), 0);
	assert_int_equal(tail, 2 * TABLE_SEGMENT_WORDS + 1000);
	assert_int_equal(k.nr_made, 3);
	segments_release(&s);
}

static void the_maximum_holds(void **state)
{
	struct kernel k = {};
	struct segments s;
	uint32_t word;

	setup(&s, &k, 2);
	assert_int_equal(segments_take(&s, 3 * TABLE_SEGMENT_WORDS, &word), -ENOSPC);
	assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS, &word), 0);
	assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS, &word), 0);
	assert_int_equal(segments_take(&s, 8, &word), -ENOSPC);
	segments_limit(&s, 3 * (uint64_t)TABLE_SEGMENT_BYTES);
	assert_int_equal(segments_take(&s, 8, &word), 0);
	segments_limit(&s, 0); /* what is there stays */
	assert_int_equal(s.max, 1);
	assert_int_equal(s.nr, 3);
	assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS, &word), -ENOSPC);
	segments_release(&s);
}

static void what_is_given_back_rests(void **state)
{
	struct kernel k = {};
	struct segments s;
	uint32_t a, b;

	setup(&s, &k, 1);
	assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS, &a), 0);
	segments_give(&s, a, TABLE_SEGMENT_WORDS, 10 * SECOND);
	segments_settle(&s, 11 * SECOND);
	assert_int_equal(segments_take(&s, 8, &b), -ENOSPC);
	segments_settle(&s, 13 * SECOND);
	assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS, &b), 0);
	assert_int_equal(a, b);
	segments_release(&s);
}

static void gaps_join(void **state)
{
	struct kernel k = {};
	struct segments s;
	uint32_t w[4], third = TABLE_SEGMENT_WORDS / 4;

	setup(&s, &k, 1);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(segments_take(&s, third, &w[i]), 0);
	segments_give(&s, w[0], third, 0);
	segments_give(&s, w[2], third, 0);
	segments_give(&s, w[1], third, 0);
	segments_settle(&s, 10 * SECOND);
	assert_int_equal(segments_take(&s, 3 * third, &w[0]), 0);
	segments_release(&s);
}

static void empty_segments_are_dropped_but_one(void **state)
{
	struct kernel k = {};
	struct segments s;
	uint32_t w[3];

	setup(&s, &k, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(segments_take(&s, TABLE_SEGMENT_WORDS, &w[i]), 0);
	for (size_t i = 0; i < 3; i++)
		segments_give(&s, w[i], TABLE_SEGMENT_WORDS, 0);
	segments_settle(&s, 10 * SECOND);
	assert_int_equal(k.nr_dropped, 2);
	assert_int_equal(s.nr, 1);
	segments_release(&s);
}

static void what_is_expected_is_asked_for_at_once(void **state)
{
	struct kernel k = { .slow = true };
	struct segments s;
	uint32_t word;

	setup(&s, &k, 4);
	segments_expect(&s, 2 * TABLE_SEGMENT_WORDS + 1);
	assert_true(k.asked[0] && k.asked[1] && k.asked[2]);
	assert_false(k.asked[3]);
	segments_expect(&s, 100 * (uint64_t)TABLE_SEGMENT_WORDS); /* not above the maximum */
	assert_true(k.asked[3]);
	assert_false(k.asked[4]);
	assert_int_equal(segments_take(&s, 3 * TABLE_SEGMENT_WORDS, &word), 0);
	segments_release(&s);
}

static void memory_may_be_on_its_way(void **state)
{
	struct kernel k = { .slow = true };
	struct segments s;
	uint32_t word;

	setup(&s, &k, 4);
	segments_expect(&s, 1);
	assert_int_equal(k.nr_made, 0);
	assert_int_equal(segments_take(&s, 8, &word), 0);
	assert_int_equal(segments_take(&s, 2 * TABLE_SEGMENT_WORDS, &word), -EINPROGRESS);
	assert_int_equal(segments_take(&s, 2 * TABLE_SEGMENT_WORDS, &word), -EINPROGRESS);
	assert_int_equal(segments_take(&s, 2 * TABLE_SEGMENT_WORDS, &word), 0);
	assert_int_equal(word, TABLE_SEGMENT_WORDS);
	segments_release(&s);
	assert_int_equal(k.nr_dropped, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_do_not_overlap),
		cmocka_unit_test(no_range_lies_across_two_segments),
		cmocka_unit_test(a_large_range_begins_with_a_segment),
		cmocka_unit_test(the_maximum_holds),
		cmocka_unit_test(what_is_given_back_rests),
		cmocka_unit_test(gaps_join),
		cmocka_unit_test(empty_segments_are_dropped_but_one),
		cmocka_unit_test(what_is_expected_is_asked_for_at_once),
		cmocka_unit_test(memory_may_be_on_its_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
