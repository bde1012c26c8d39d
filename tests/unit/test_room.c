/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which tables go when room is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unwind/room.h"

#define SEGMENT TABLE_SEGMENT_WORDS
#define QUARTER (SEGMENT / 4)

static struct segments segments(uint32_t made, uint32_t max)
{
	struct segments s = { .nr_places = TABLE_MAX_SEGMENTS, .max = max, .nr = made };

	for (uint32_t i = 0; i < made; i++)
		s.list[i].made = true;
	return s;
}

/* Marks come as bits, the first range lowest; -1: no room. */
static int find(const struct segments *s, struct room_range *v, size_t nr, uint32_t words)
{
	int bits = 0;

	for (size_t i = 0; i < nr; i++)
		v[i].goes = false;
	if (!room_find(s, v, nr, words))
		return -1;
	for (size_t i = 0; i < nr; i++)
		bits |= v[i].goes << i;
	return bits;
}

static void the_oldest_goes_and_no_more(void **state)
{
	struct room_range v[] = { { 0, QUARTER, 1, 0 },
				  { QUARTER, QUARTER, 2, 0 },
				  { 2 * QUARTER, QUARTER, 3, 0 },
				  { 3 * QUARTER, QUARTER, 9, 0 } };
	struct segments s = segments(1, 1);

	(void)state;
	assert_int_equal(find(&s, v, 4, QUARTER), 8);
	assert_int_equal(find(&s, v, 4, QUARTER - 8), 8);
	/* Two neighbours: of these pairs the one whose younger half is oldest. */
	assert_int_equal(find(&s, v, 4, 2 * QUARTER), 4 + 8);
	assert_int_equal(find(&s, v, 4, SEGMENT), 15);
	/* What is free already counts. */
	assert_int_equal(find(&s, v, 3, QUARTER), 0);
	assert_int_equal(find(&s, v, 3, 2 * QUARTER), 4);
}

static void nothing_goes_in_vain(void **state)
{
	struct room_range v[] = { { 0, QUARTER, 7, 0 },
				  { QUARTER, 64, 0, 0 }, /* a list, or in use */
				  { SEGMENT + QUARTER, QUARTER, 2, 0 } };
	struct segments s = segments(2, 2);

	(void)state;
	assert_int_equal(find(&s, v, 3, SEGMENT), 4);
	v[2].age = 0;
	assert_int_equal(find(&s, v, 3, SEGMENT), -1);
	assert_int_equal(find(&s, v, 3, QUARTER), 0);
	assert_int_equal(find(&s, v, 3, 3 * QUARTER), -1);
}

static void a_large_one_takes_whole_segments(void **state)
{
	struct room_range v[] = { { 0, 64, 0, 0 },
				  { SEGMENT, QUARTER, 3, 0 },
				  { 2 * SEGMENT + 3 * QUARTER, QUARTER, 4, 0 } };
	struct segments s = segments(3, 3);

	(void)state;
	assert_int_equal(find(&s, v, 3, SEGMENT + 8), 2 + 4);
	assert_int_equal(find(&s, v, 3, 2 * SEGMENT + 8), -1);
	s.max = 4; /* one more may be made */
	assert_int_equal(find(&s, v, 3, SEGMENT + 8), 4);
	assert_int_equal(find(&s, v, 3, 2 * SEGMENT + 8), 2 + 4);
	assert_int_equal(find(&s, v, 3, 4 * SEGMENT), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_goes_and_no_more),
		cmocka_unit_test(nothing_goes_in_vain),
		cmocka_unit_test(a_large_one_takes_whole_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
