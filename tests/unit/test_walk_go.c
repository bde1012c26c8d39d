/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The step where functions of Go run on another stack than their caller. */
#include "walk_scene.h"

/* Far below the thread's stack lies that of a goroutine. */
#define OTHER 0xc000001000ull

/* Two words at an address of the goroutine's stack, then its caller's frame. */
static void put_other(struct scene *s, uint64_t words[8])
{
	s->start.others[s->start.nr_others].at = OTHER;
	s->start.others[s->start.nr_others].bytes = (uint8_t *)words;
	s->start.others[s->start.nr_others++].sz = 8 * sizeof(*words);
}

static void x86_goes_over_to_another_stack(void **state)
{
	uint64_t words[8] = { OTHER + 48, 0x200, 1, 2, 3, ROOT };
	struct scene s;
	struct walk w;

	setup(&s, TABLE_X86);
	s.start.fp = OTHER;
	s.places[0] = (struct place){ .pc = 0x100, .rule = special(&s, RULE_OTHER_STACK) };
	s.places[1] = (struct place){ .pc = 0x1ff, .rule = x86(false, 32, 0) };
	w = go(&s);
	assert_int_equal(w.end, UNWIND_END_READ);
	assert_int_equal(w.unread, OTHER + 15);
	put_other(&s, words);
	w = go(&s);
	assert_int_equal(w.end, UNWIND_END_CFI_ROOT);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.frames[1], 0x200);
	assert_int_equal(w.frames[2], ROOT);
	assert_int_equal(w.guessed, 0);
	s.start.fp = 0;
	assert_int_equal(go(&s).end, UNWIND_END_NO_CFI);
}

/* A frame of 48 bytes: its caller's begins 40 above the frame pointer. */
static void arm64_goes_over_to_another_stack(void **state)
{
	uint64_t words[8] = { OTHER + 200, 0x200, 0, 0, 0, 0, 0, ROOT };
	struct scene s;
	struct walk w;

	setup(&s, TABLE_ARM64);
	s.start.fp = OTHER;
	s.start.lr = 0xbad;
	s.places[0] =
		(struct place){ .pc = 0x100, .rule = special(&s, RULE_OTHER_STACK) | 48 / 16 << 9 };
	s.places[1] = (struct place){ .pc = 0x1ff, .rule = arm64(false, 16, MODE_RA_SP, 0) };
	put_other(&s, words);
	w = go(&s);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.frames[1], 0x200);
	assert_int_equal(w.frames[2], ROOT);
}

/*
 * asmcgocall was 48 bytes below the end of the goroutine's stack; the goroutine lies at OTHER, its
 * stack behind it. Without a goroutine it keeps where it was.
 */
static void arm64_go_calls_c(void **state)
{
	uint64_t words[8] = { 0, OTHER + 64, 0, OTHER + 200, ROOT };
	struct scene s;
	struct walk w;

	setup(&s, TABLE_ARM64);
	s.start.pc = 0x300;
	s.places[0] = (struct place){ .pc = 0x300, .rule = special(&s, RULE_GO_CALLS_C) };
	s.stack[0] = OTHER;
	s.stack[1] = 64 - 32;
	put_other(&s, words);
	w = go(&s);
	assert_int_equal(w.end, UNWIND_END_CFI_ROOT);
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.frames[1], ROOT);
	s.stack[0] = 0;
	s.stack[1] = SP + 64;
	s.stack[8] = ROOT;
	assert_int_equal(go(&s).frames[1], ROOT);
}

/* What a goroutine has saved is not part of the copy. */
static void saved_registers_are_not_copied(void **state)
{
	struct scene s;

	setup(&s, TABLE_X86);
	s.places[0] = (struct place){ .pc = 0x100, .rule = special(&s, RULE_GO_SAVED) };
	assert_int_equal(go(&s).end, UNWIND_END_CFI_ROOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_goes_over_to_another_stack),
		cmocka_unit_test(arm64_goes_over_to_another_stack),
		cmocka_unit_test(arm64_go_calls_c),
		cmocka_unit_test(saved_registers_are_not_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
