/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "collect/sleeping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static uint32_t add(struct profile *p, const uint64_t *addresses, size_t nr)
{
	uint32_t ids[8];

	for (size_t i = 0; i < nr; i++)
		ids[i] = profile_frame(p, FRAME_KERNEL, 0, addresses[i]);
	return profile_stack(p, ids, nr, UNWIND_END_ROOT, 0);
}

#define ADD(p, ...)                                                                                \
	add(p, (const uint64_t[]){ __VA_ARGS__ }, NR(((const uint64_t[]){ __VA_ARGS__ })))

static void the_frames_that_are_missing_come_from_a_switch(void **state)
{
	struct profile *p = profile_new();
	struct sleeping s = {};
	uint32_t asleep = ADD(p, 3, 2, 1), other, full, deeper;

	(void)state;
	sleeping_add(&s, asleep);
	other = ADD(p, 30, 2, 1);
	sleeping_add(&s, other);
	full = ADD(p, 6, 5, 3, 2, 1);
	deeper = ADD(p, 7, 5, 3, 2, 1);
	sleeping_index(&s, p);
	sleeping_look(&s, p, full);
	sleeping_look(&s, p, deeper);
	assert_int_equal(sleeping_instead(&s, asleep), full);
	assert_int_equal(sleeping_instead(&s, other), other);
	assert_int_equal(sleeping_instead(&s, full), full);
	assert_int_equal(sleeping_instead(&s, 0), 0);
	sleeping_release(&s);
	profile_free(p);
}

static void all_that_is_left_must_be_equal(void **state)
{
	struct profile *p = profile_new();
	struct sleeping s = {};
	uint32_t asleep = ADD(p, 3, 2, 1), same = ADD(p, 3, 2), empty, full[3];

	(void)state;
	sleeping_add(&s, asleep);
	sleeping_add(&s, same);
	empty = profile_stack(p, NULL, 0, UNWIND_END_ROOT, 0);
	sleeping_add(&s, empty);
	full[0] = ADD(p, 6, 3, 2, 9); /* another root */
	full[1] = ADD(p, 6, 3, 4, 2, 1);
	full[2] = ADD(p, 3, 2, 1); /* nothing was missing */
	sleeping_index(&s, p);
	for (size_t i = 0; i < NR(full); i++)
		sleeping_look(&s, p, full[i]);
	sleeping_look(&s, p, empty);
	assert_int_equal(sleeping_instead(&s, asleep), asleep);
	assert_int_equal(sleeping_instead(&s, same), same);
	assert_int_equal(sleeping_instead(&s, empty), empty);
	sleeping_release(&s);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_frames_that_are_missing_come_from_a_switch),
		cmocka_unit_test(all_that_is_left_must_be_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
