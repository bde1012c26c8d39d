/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arena reader against logs laid out as the kernel writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collect/arena.h"

#define WORDS 64

struct fixture {
	uint64_t words[WORDS], cursor;
	struct arena arena;
};

static struct fixture fixture(size_t nr_words)
{
	struct fixture f;

	memset(&f, 0, sizeof(f));
	f.arena.nr_words = nr_words;
	return f;
}

static struct arena *arena_of(struct fixture *f)
{
	f->arena.words = f->words;
	f->arena.cursor = &f->cursor;
	return &f->arena;
}

/* Reserves and writes a record; with head 0 it is still in the making. */
static void put(struct fixture *f, uint32_t slot, uint16_t nr, uint64_t time_ns, int publish)
{
	uint64_t at = f->cursor;
	struct prof_stack_head head = {
		.slot = slot, .nr_frames = nr, .kind = PROF_STACK_USER, .end = UNWIND_END_ROOT
	};

	f->cursor += PROF_STACK_WORDS + nr;
	if (f->cursor > f->arena.nr_words)
		return;
	f->words[at + 1] = 4711 | 3ull << 32;
	f->words[at + 2] = time_ns;
	for (uint16_t i = 0; i < nr; i++)
		f->words[at + PROF_STACK_WORDS + i] = 0x1000 * slot + i;
	if (publish)
		memcpy(&f->words[at], &head, sizeof(head));
}

static void reads_records_in_order(void **state)
{
	struct fixture f = fixture(WORDS);
	struct arena_stack s;

	put(&f, 7, 3, 100, 1);
	put(&f, 0, 1, 200, 1);
	assert_true(arena_next(arena_of(&f), UINT64_MAX, &s));
	assert_int_equal(s.slot, 7);
	assert_int_equal(s.pid, 4711);
	assert_int_equal(s.kind, PROF_STACK_USER);
	assert_int_equal(s.end, UNWIND_END_ROOT);
	assert_int_equal(s.nr_frames, 3);
	assert_int_equal(s.frames[2], 0x7002);
	assert_true(arena_next(arena_of(&f), UINT64_MAX, &s));
	assert_int_equal(s.slot, 0);
	assert_int_equal(s.time_ns, 200);
	assert_false(arena_next(arena_of(&f), UINT64_MAX, &s));
}

static void waits_for_a_record_in_the_making(void **state)
{
	struct fixture f = fixture(WORDS);
	struct arena_stack s;
	struct prof_stack_head head = { .slot = 1, .nr_frames = 2, .kind = PROF_STACK_KERNEL };

	put(&f, 1, 2, 100, 0);
	put(&f, 2, 2, 110, 1);
	assert_false(arena_next(arena_of(&f), UINT64_MAX, &s));
	memcpy(f.words, &head, sizeof(head));
	assert_true(arena_next(arena_of(&f), UINT64_MAX, &s));
	assert_int_equal(s.slot, 1);
	assert_true(arena_next(arena_of(&f), UINT64_MAX, &s));
	assert_int_equal(s.slot, 2);
}

static void leaves_younger_records_for_later(void **state)
{
	struct fixture f = fixture(WORDS);
	struct arena_stack s;

	put(&f, 1, 1, 100, 1);
	put(&f, 2, 1, 300, 1);
	assert_true(arena_next(arena_of(&f), 200, &s));
	assert_false(arena_next(arena_of(&f), 200, &s));
	assert_true(arena_next(arena_of(&f), 300, &s));
	assert_int_equal(s.slot, 2);
}

/* The kernel's cursor runs on when the log is full; what did not fit is not there. */
static void stops_at_the_end_of_a_full_log(void **state)
{
	struct fixture f = fixture(10);
	struct arena_stack s;

	put(&f, 1, 2, 100, 1);
	put(&f, 2, 5, 110, 1); /* 5 + 8 > 10 */
	put(&f, 3, 1, 120, 1);
	assert_true(f.cursor > 10);
	assert_true(arena_next(arena_of(&f), UINT64_MAX, &s));
	assert_int_equal(s.slot, 1);
	assert_false(arena_next(arena_of(&f), UINT64_MAX, &s));
	assert_false(arena_next(arena_of(&f), UINT64_MAX, &s));
}

static void a_full_log_is_waited_for_once(void **state)
{
	struct fixture f = fixture(10);
	struct arena_stack s;

	put(&f, 1, 2, 100, 1);
	put(&f, 2, 5, 110, 1); /* 5 + 8 > 10 */
	assert_false(arena_is_stalled(arena_of(&f)));
	assert_true(arena_next(arena_of(&f), UINT64_MAX, &s));
	assert_true(arena_is_stalled(arena_of(&f)));
	assert_false(arena_is_stalled(arena_of(&f)));
	assert_false(arena_is_stalled(arena_of(&f)));
}

static void a_record_in_the_making_is_waited_for(void **state)
{
	struct fixture f = fixture(WORDS);

	put(&f, 1, 2, 100, 0);
	for (int i = 0; i < 5; i++)
		assert_true(arena_is_stalled(arena_of(&f)));
}

static void refuses_a_record_longer_than_the_log(void **state)
{
	struct fixture f = fixture(WORDS);
	struct arena_stack s;
	struct prof_stack_head head = { .slot = 1, .nr_frames = 60000, .kind = PROF_STACK_USER };

	f.cursor = 8;
	memcpy(f.words, &head, sizeof(head));
	assert_false(arena_next(arena_of(&f), UINT64_MAX, &s));
	head.nr_frames = 6;
	memcpy(f.words, &head, sizeof(head));
	assert_false(arena_next(arena_of(&f), UINT64_MAX, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_records_in_order),
		cmocka_unit_test(waits_for_a_record_in_the_making),
		cmocka_unit_test(leaves_younger_records_for_later),
		cmocka_unit_test(stops_at_the_end_of_a_full_log),
		cmocka_unit_test(a_full_log_is_waited_for_once),
		cmocka_unit_test(a_record_in_the_making_is_waited_for),
		cmocka_unit_test(refuses_a_record_longer_than_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
