/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which part of a count came when: by hand, for short recordings, long ones, and turns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/slices.h"

#define SECOND 1000000000ull
#define BEGIN  (5 * SECOND)
#define NR     4

static struct prof_count counts[NR];

static void begin(struct slices *s, uint64_t duration_ns)
{
	memset(counts, 0, sizeof(counts));
	slices_begin(s, counts, NR, BEGIN, duration_ns);
}

static uint64_t of(const struct slices *s, uint32_t id, uint32_t slice)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < s->nr_parts; i++)
		if (s->parts[i].id == id && s->parts[i].slice == slice)
			weight += s->parts[i].weight;
	return weight;
}

static void each_slice_has_what_came_in_it(void **state)
{
	struct slices s;

	begin(&s, 20 * SECOND);
	counts[1].weight = 5;
	slices_turn(&s, BEGIN + SECOND / 2);
	assert_int_equal(s.nr, 0);
	slices_turn(&s, BEGIN + SECOND);
	counts[1].weight = 12;
	counts[2].samples = 3; /* without weights, they count */
	slices_turn(&s, BEGIN + 2 * SECOND);
	counts[2].samples = 4;
	slices_take(&s, 1, 10);
	slices_take(&s, 2, 20);
	slices_end(&s, BEGIN + 3 * SECOND);
	assert_int_equal(s.nr, 3);
	assert_true(s.ends_ns[0] == SECOND && s.ends_ns[2] == 3 * SECOND);
	assert_int_equal(s.nr_parts, 4);
	assert_true(of(&s, 10, 0) == 5 && of(&s, 10, 1) == 7);
	assert_true(of(&s, 20, 1) == 3 && of(&s, 20, 2) == 1);
	slices_release(&s);
}

/* Slot 0 is of one count, then of another; what was not taken over is dropped. */
static void slots_are_used_again(void **state)
{
	struct slices s;

	begin(&s, 20 * SECOND);
	counts[0].weight = counts[3].weight = 100;
	slices_turn(&s, BEGIN + SECOND);
	counts[0].weight = 101;
	slices_take(&s, 0, 7);
	slices_empty(&s, 0, NR);
	counts[0].weight = 30;
	counts[3].weight = 0;
	slices_turn(&s, BEGIN + 2 * SECOND);
	slices_take(&s, 0, 8);
	slices_empty(&s, 0, NR);
	counts[0].weight = 2;
	slices_turn(&s, BEGIN + 3 * SECOND);
	slices_take(&s, 0, 7);
	slices_end(&s, BEGIN + 4 * SECOND);
	assert_true(of(&s, 7, 0) == 100 && of(&s, 7, 1) == 1 && of(&s, 7, 2) == 2);
	assert_int_equal(of(&s, 8, 1), 30);
	assert_int_equal(s.nr_parts, 4);
	slices_release(&s);
}

/* Nobody said how long it would be: slices get longer, and nothing gets lost. */
static void a_long_recording_has_few(void **state)
{
	uint64_t now = BEGIN, sum = 0;
	struct slices s;

	begin(&s, 0);
	for (int i = 0; i < 3000; i++) {
		now += SECOND / 10;
		counts[0].weight += 3;
		slices_turn(&s, now);
	}
	slices_take(&s, 0, 1);
	slices_end(&s, now + SECOND / 10);
	assert_true(s.nr > SLICES_MAX / 2 - 2 && s.nr <= SLICES_MAX);
	for (size_t i = 0; i < s.nr; i++) {
		assert_true(!i || s.ends_ns[i] > s.ends_ns[i - 1]);
		sum += of(&s, 1, i);
	}
	assert_int_equal(sum, 9000);
	assert_true(of(&s, 1, 0) == of(&s, 1, 5));
	assert_true(s.nr_parts <= s.nr);
	slices_release(&s);
}

/* Counts that come and go: slices get longer so that all find room, and no weight is lost. */
static void many_parts_make_slices_longer(void **state)
{
	uint64_t now = BEGIN, sum = 0;
	struct slices s;

	begin(&s, 20 * SECOND);
	s.max_parts = 40;
	for (uint32_t i = 0; i < 160; i++) {
		now += SECOND / 8;
		counts[0].weight += 10; /* of one count for all the time */
		counts[1].weight += 3;	/* of four that take turns */
		slices_turn(&s, now);
		if (i % 2) {
			slices_take(&s, 1, 100 + i / 2 % 4);
			counts[1].weight = 0;
		}
	}
	slices_take(&s, 0, 7);
	slices_end(&s, now + SECOND / 16);
	assert_in_range(s.nr, 2, 10);
	assert_true(s.nr_parts <= 5 * s.nr);
	for (size_t i = 0; i < s.nr; i++)
		sum += of(&s, 7, i);
	assert_int_equal(sum, 1600);
	for (uint32_t id = 100; id < 104; id++)
		for (size_t i = 0; i < s.nr; i++)
			sum += of(&s, id, i);
	assert_int_equal(sum, 1600 + 480);
	/* Even, so each second has as much. */
	for (size_t i = 1; i < s.nr; i++)
		assert_true(llabs((int64_t)of(&s, 7, i) -
				  (int64_t)((s.ends_ns[i] - s.ends_ns[i - 1]) * 80 / SECOND)) <=
			    10);
	slices_release(&s);
}

/* More counts than there is room for, whatever slices are like. */
static void too_many_counts_have_no_slices(void **state)
{
	struct slices s;

	begin(&s, 20 * SECOND);
	s.max_parts = 40;
	for (uint32_t i = 0; i < 200; i++) {
		counts[1].weight = 3;
		slices_take(&s, 1, i);
		counts[1].weight = 2;
		slices_turn(&s, BEGIN + i * SECOND / 4);
	}
	slices_end(&s, BEGIN + 60 * SECOND);
	assert_true(!s.nr && !s.nr_parts);
	slices_release(&s);
}

static void what_remains_goes_to_the_last(void **state)
{
	struct slices s;

	begin(&s, 20 * SECOND);
	counts[0].weight = 10;
	slices_turn(&s, BEGIN + SECOND);
	counts[0].weight = 11;
	slices_take(&s, 0, 0);
	slices_end(&s, BEGIN + SECOND + SECOND / 3);
	assert_int_equal(s.nr, 1);
	assert_true(of(&s, 0, 0) == 11 && s.ends_ns[0] > SECOND);
	slices_release(&s);
	begin(&s, 20 * SECOND);
	slices_take(&s, 0, 0);
	slices_end(&s, BEGIN + SECOND / 2);
	assert_true(!s.nr && !s.nr_parts);
	slices_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_slice_has_what_came_in_it),
		cmocka_unit_test(slots_are_used_again),
		cmocka_unit_test(a_long_recording_has_few),
		cmocka_unit_test(many_parts_make_slices_longer),
		cmocka_unit_test(too_many_counts_have_no_slices),
		cmocka_unit_test(what_remains_goes_to_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
