/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The step, rule by rule, over stacks written by hand. Both architectures, on any host. */
#include "walk_scene.h"

static void x86_by_sp(void **state)
{
	struct scene s;

	setup(&s, TABLE_X86);
	s.places[0] = (struct place){ .pc = 0x100, .rule = x86(false, 48, 0) };
	s.stack[5] = ROOT;
	check_one_step(&s);
}

static void x86_by_fp_that_was_saved_on_the_way(void **state)
{
	struct scene s;
	struct walk w;

	setup(&s, TABLE_X86);
	s.start.fp = 0xdead; /* a number of the innermost function's own */
	s.places[0] = (struct place){ .pc = 0x100, .rule = x86(false, 32, 16) };
	s.stack[2] = SP + 80; /* the caller's frame pointer */
	s.stack[3] = 0x200;
	s.places[1] = (struct place){ .pc = 0x1ff, .rule = x86(true, 16, 16) };
	s.stack[11] = ROOT;
	w = go(&s);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.frames[1], 0x200);
	assert_int_equal(w.frames[2], ROOT);
	assert_int_equal(w.end, UNWIND_END_CFI_ROOT);
	assert_int_equal(w.guessed, 0);
}

static void x86_return_address_must_lie_higher(void **state)
{
	struct scene s;

	setup(&s, TABLE_X86);
	s.start.fp = SP - 64;
	s.places[0] = (struct place){ .pc = 0x100, .rule = x86(true, 16, 16) };
	assert_int_equal(go(&s).end, UNWIND_END_BAD_CFA);
}

static void x86_plt_pushes_in_the_middle(void **state)
{
	struct scene s;

	setup(&s, TABLE_X86);
	s.start.pc = 0x10a;
	s.places[0] = (struct place){ .pc = 0x10a, .rule = RULE_X86_SPECIAL | RULE_PLT11 };
	s.stack[0] = ROOT;
	assert_int_equal(go(&s).frames[1], ROOT);
	s.start.pc = s.places[0].pc = 0x10b;
	s.stack[0] = 7;
	s.stack[1] = ROOT;
	assert_int_equal(go(&s).frames[1], ROOT);
}

static void x86_exception_through_memory(void **state)
{
	struct scene s;

	setup(&s, TABLE_X86); /* CFA = *(rbp - 8), rbp saved where it points: a realigned frame */
	s.start.fp = SP + 64;
	s.places[0] = (struct place){ .pc = 0x100,
				      .rule = RULE_X86_EXCEPTION,
				      .exception = { .cfa_kind = CFA_DEREF,
						     .cfa_reg = 6,
						     .cfa_off = -8,
						     .fp_kind = AT_REG,
						     .fp_reg = 6,
						     .ra_kind = AT_CFA,
						     .ra_off = -8 } };
	s.stack[7] = SP + 160;
	s.stack[8] = SP + 200; /* the caller's rbp */
	s.stack[19] = 0x200;
	s.places[1] = (struct place){ .pc = 0x1ff, .rule = x86(true, 16, 16) };
	s.stack[26] = ROOT;
	assert_int_equal(go(&s).nr, 3);
	assert_int_equal(go(&s).frames[2], ROOT);
}

/* pt_regs of x86-64 begins r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di. */
static void x86_exception_in_a_register(void **state)
{
	static const uint8_t at[16] = { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0 };
	struct scene s;

	for (uint8_t reg = 0; reg < 16; reg++) {
		if (reg == 6 || reg == 7)
			continue;
		setup(&s, TABLE_X86);
		s.regs[at[reg]] = ROOT;
		s.places[0] = (struct place){ .pc = 0x100,
					      .rule = RULE_X86_EXCEPTION,
					      .exception = { .cfa_reg = 7,
							     .cfa_off = 8,
							     .ra_kind = IN_REG,
							     .ra_reg = reg } };
		check_one_step(&s);
	}
}

/*
 * The function at 0x80 is called by the one before 0x200, which has aligned SP and has the old one
 * in rbx: its CFA is rbx + 32. It pushes that at 0x84, to 16 below its own CFA.
 */
static void set_kept(struct scene *s, uint64_t pc)
{
	setup(s, TABLE_X86);
	s->start.pc = pc;
	s->places[0] = (struct place){ .pc = pc, .rule = x86(false, 24, 0) };
	s->stack[2] = 0x200;
	s->places[1] = (struct place){ .pc = 0x1ff,
				       .rule = RULE_X86_EXCEPTION,
				       .exception = { .cfa_kind = CFA_KEPT,
						      .cfa_reg = 3,
						      .cfa_off = 32,
						      .cfa_off2 = -16,
						      .called = 0x80 - 0x200,
						      .push = 4,
						      .ra_kind = AT_CFA,
						      .ra_off = -8 } };
	s->stack[33] = ROOT; /* rbx = SP + 240 */
}

#define PT_REGS_BX 5
#define IN_FRAME   (SP + 240)
#define NEITHER	   0x1234

static void check_kept(uint64_t pc, uint64_t pushed, uint64_t rbx, uint32_t end)
{
	struct scene s;
	struct walk w;

	set_kept(&s, pc);
	s.stack[1] = pushed; /* SP + 24 - 16 */
	s.regs[PT_REGS_BX] = rbx;
	w = go(&s);
	assert_int_equal(w.end, end);
	assert_int_equal(w.nr, end == UNWIND_END_CFI_ROOT ? 3 : 2);
}

static void x86_register_that_the_called_function_keeps(void **state)
{
	/* It is where it was pushed, whatever the function has in it now … */
	check_kept(0x100, IN_FRAME, NEITHER, UNWIND_END_CFI_ROOT);
	check_kept(0x85, IN_FRAME, SP + 200, UNWIND_END_CFI_ROOT);
	/* … and before the push still in it, whatever lies there. */
	check_kept(0x84, SP + 200, IN_FRAME, UNWIND_END_CFI_ROOT);
	check_kept(0x80, NEITHER, IN_FRAME, UNWIND_END_CFI_ROOT);
	/* No place in the frame is none. */
	check_kept(0x85, NEITHER, IN_FRAME, UNWIND_END_LOST_REG);
	check_kept(0x84, IN_FRAME, NEITHER, UNWIND_END_LOST_REG);
	check_kept(0x7f, SP + (1 << 20), NEITHER, UNWIND_END_LOST_REG);
}

static void x86_register_that_a_function_further_in_has(void **state)
{
	struct scene s;

	set_kept(&s, 0x300);
	s.places[0].rule = x86(false, 16, 0);
	s.stack[1] = 0x84; /* a return address, before the push: nobody calls so early */
	s.places[2] = (struct place){ .pc = 0x83, .rule = x86(false, 24, 0) };
	s.stack[4] = 0x200;
	s.stack[3] = IN_FRAME;
	s.regs[PT_REGS_BX] = SP + 248;
	assert_int_equal(go(&s).end, UNWIND_END_CFI_ROOT);
}

/* The innermost frame itself: all registers are known. */
static void x86_register_where_nothing_is_called(void **state)
{
	struct scene s;

	set_kept(&s, 0x100);
	s.places[0] = (struct place){ .pc = 0x100,
				      .rule = s.places[1].rule,
				      .exception = s.places[1].exception };
	s.regs[PT_REGS_BX] = IN_FRAME;
	check_one_step(&s);
}

static void registers_are_lost_above_a_call(void **state)
{
	struct scene s;

	setup(&s, TABLE_X86);
	s.places[0] = (struct place){ .pc = 0x100, .rule = x86(false, 8, 0) };
	s.stack[0] = 0x200;
	s.places[1] = (struct place){ .pc = 0x1ff,
				      .rule = RULE_X86_EXCEPTION,
				      .exception = { .cfa_reg = 3, .ra_kind = AT_CFA } };
	assert_int_equal(go(&s).end, UNWIND_END_LOST_REG);
}

/* The signal frame of x86-64: from 40 on r8…r15 di si bp bx dx ax cx sp ip. */
static void x86_signal_restores_everything(void **state)
{
	struct scene s;
	struct walk w;

	setup(&s, TABLE_X86);
	s.places[0] = (struct place){ .pc = 0x100, .rule = RULE_X86_SPECIAL | RULE_SIGNAL };
	s.stack[5 + 3] = 0xbad;	    /* r11 */
	s.stack[5 + 10] = SP + 256; /* bp */
	s.stack[5 + 12] = ROOT;	    /* dx */
	s.stack[5 + 15] = SP + 240; /* sp */
	s.stack[5 + 16] = 0x300;    /* ip: no return address, so not looked up one lower */
	s.places[1] = (struct place){
		.pc = 0x300,
		.rule = RULE_X86_EXCEPTION,
		.exception = { .cfa_reg = 6, .cfa_off = 16, .ra_kind = IN_REG, .ra_reg = 1 }
	};
	w = go(&s);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.frames[1], 0x300);
	assert_int_equal(w.frames[2], ROOT);
}

static void a_signal_may_lead_to_another_stack(void **state)
{
	struct scene s;

	setup(&s, TABLE_X86);
	s.places[0] = (struct place){ .pc = 0x100, .rule = RULE_X86_SPECIAL | RULE_SIGNAL };
	s.stack[5 + 15] = SP - 0x100000; /* not in the copy */
	s.stack[5 + 16] = 0x300;
	s.places[1] = (struct place){ .pc = 0x300, .rule = x86(false, 8, 0) };
	assert_int_equal(go(&s).nr, 2);
	assert_int_equal(go(&s).end, UNWIND_END_READ);
}

static void frame_pointers_where_nothing_is_known(void **state)
{
	struct scene s;
	struct walk w;

	setup(&s, TABLE_X86);
	s.start.fp = SP + 32;
	s.places[0] = (struct place){ .pc = 0x100, .rule = special(&s, RULE_NONE), .anon = true };
	s.stack[4] = 99;
	s.stack[5] = 0x200;
	s.places[1] = (struct place){ .pc = 0x1ff, .rule = x86(false, 16, 0) };
	s.stack[7] = ROOT;
	w = go(&s);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.guessed, 1);
	assert_int_equal(w.end, UNWIND_END_CFI_ROOT);
	assert_true(walk_run(&w, &s.start, 100, CALL_GRAPH_DWARF, lookup, &s));
	assert_int_equal(w.end, UNWIND_END_NO_CFI);
	assert_int_equal(w.nr, 1);
}

static void a_frame_pointer_must_be_plausible(void **state)
{
	static const uint64_t bad[] = { 0, 8, SP - 8, SP + 4, SP + (2 << 20) };
	struct scene s;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setup(&s, TABLE_X86);
		s.start.fp = bad[i];
		s.places[0] =
			(struct place){ .pc = 0x100, .rule = special(&s, RULE_NONE), .anon = true };
		assert_int_equal(go(&s).end, UNWIND_END_NO_CFI);
	}
	s.start.fp = SP; /* an empty record is the root */
	assert_int_equal(go(&s).end, UNWIND_END_ROOT);
}

static bool code_is(void *arg, uint64_t at, uint64_t *bytes)
{
	const struct scene *s = arg;

	*bytes = s->regs[0];
	return at == 0x200;
}

/*
 * Generated code that returns as soon as what it called does is left by what it will do, whatever
 * is in the frame pointer. Bytes that are others, or lie in the innermost frame, say nothing.
 */
static void generated_code_that_is_about_to_return(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t words, fp; /* on the stack, and which of them; 0: none */
	} cases[] = {
		{ 0xc308c48348, 1, 0 },	   { 0x90c35d18c48348, 4, 4 }, { 0xc35d, 1, 1 },
		{ 0x9090c3, 0, 0 },	   { 0xc3f8c48348, ~0, 0 },    { 0xc304c48348, ~0, 0 },
		{ 0x90c408c48348, ~0, 0 }, { 0xc35b, ~0, 0 },
	};
	struct scene s;
	struct walk w;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(&s, TABLE_X86);
		s.start.code = code_is;
		s.start.fp = SP - 8; /* none */
		s.regs[0] = cases[i].bytes;
		s.places[0] = (struct place){ .pc = 0x100, .rule = x86(false, 16, 0) };
		s.places[1] =
			(struct place){ .pc = 0x1ff, .rule = special(&s, RULE_NONE), .anon = true };
		s.places[2] = (struct place){ .pc = 0x2ff, .rule = x86(true, 16, 16) };
		s.stack[1] = 0x200;
		if (cases[i].words == ~0u) {
			w = go(&s);
			assert_int_equal(w.nr, 2);
			assert_int_equal(w.end, UNWIND_END_NO_CFI);
			continue;
		}
		s.stack[2 + cases[i].words] = 0x300;
		if (cases[i].fp)
			s.stack[1 + cases[i].fp] = SP + 160;
		else
			s.start.fp = SP + 160;
		s.stack[21] = ROOT;
		w = go(&s);
		assert_int_equal(w.end, UNWIND_END_CFI_ROOT);
		assert_int_equal(w.nr, 4);
		assert_int_equal(w.frames[2], 0x300);
		assert_int_equal(w.guessed, 0);
	}
	setup(&s, TABLE_X86);
	s.start.code = code_is;
	s.start.pc = 0x200;
	s.regs[0] = 0xc3;
	s.places[0] = (struct place){ .pc = 0x200, .rule = special(&s, RULE_NONE), .anon = true };
	assert_int_equal(go(&s).nr, 1);
}

/* Records all the way, the last of which links to zero: Go, where nothing has unwind data. */
static void records_end_with_a_zero_link(void **state)
{
	struct scene s;
	struct walk w;

	setup(&s, TABLE_X86);
	s.start.fp = SP + 16;
	s.places[0] = (struct place){ .pc = 0x100, .rule = special(&s, RULE_NONE) };
	s.places[1] = (struct place){ .pc = 0x1ff, .rule = special(&s, RULE_NONE) };
	s.stack[3] = 0x200;
	w = go(&s);
	assert_int_equal(w.end, UNWIND_END_ROOT);
	assert_int_equal(w.nr, 2);
	s.places[0].rule = x86(false, 32, 0); /* the same zero, but not by a record */
	assert_int_equal(go(&s).end, UNWIND_END_NO_CFI);
}

/* A record may lead to another stack, once. */
static void records_may_lead_to_another_stack(void **state)
{
	struct scene s;
	struct walk w;

	setup(&s, TABLE_X86);
	s.start.sp = SP + 256;
	s.start.stack = (uint8_t *)s.stack + 256;
	s.start.stack_bytes = sizeof(s.stack) - 256;
	s.start.fp = SP + 264;
	s.stack[33] = SP - 4096; /* below: not in the copy, so it is only seen that it was tried */
	s.stack[34] = 0x200;
	s.places[0] = (struct place){ .pc = 0x100, .rule = special(&s, RULE_NONE) };
	s.places[1] = (struct place){ .pc = 0x1ff, .rule = special(&s, RULE_NONE) };
	w = go(&s);
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.end, UNWIND_END_READ);
	s.places[1].anon = true; /* but not that of generated code, which keeps any number there */
	w = go(&s);
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.end, UNWIND_END_NO_CFI);
}

static void arm64_modes(void **state)
{
	static const struct {
		enum rule_mode mode;
		uint32_t slot, ra; /* bytes, word */
	} cases[] = {
		{ MODE_PAIR_CFA, 16, 11 }, { MODE_PAIR_CFA, 96, 1 }, { MODE_PAIR_SP, 32, 5 },
		{ MODE_RA_CFA, 24, 9 },	   { MODE_RA_SP, 40, 5 },
	};
	struct scene s;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(&s, TABLE_ARM64);
		s.start.lr = 0xbad;
		s.places[0] =
			(struct place){ .pc = 0x100,
					.rule = arm64(false, 96, cases[i].mode, cases[i].slot) };
		s.stack[cases[i].ra] = ROOT | 0x2aull << 48; /* signed */
		check_one_step(&s);
	}
}

static void arm64_leaf_uses_the_link_register(void **state)
{
	struct scene s;

	setup(&s, TABLE_ARM64);
	s.start.lr = ROOT | 0x55ull << 56;
	s.places[0] = (struct place){ .pc = 0x100, .rule = arm64(false, 0, MODE_LR, 0) };
	check_one_step(&s);
	s.places[0].rule = arm64(false, 32, MODE_FP_SP, 8);
	check_one_step(&s);
}

static void arm64_link_register_only_once(void **state)
{
	struct scene s;

	setup(&s, TABLE_ARM64);
	s.start.lr = 0x200;
	s.places[0] = (struct place){ .pc = 0x100, .rule = arm64(false, 0, MODE_LR, 0) };
	s.places[1] = (struct place){ .pc = 0x1ff, .rule = arm64(false, 16, MODE_LR, 0) };
	assert_int_equal(go(&s).nr, 2);
	assert_int_equal(go(&s).end, UNWIND_END_LOST_REG);
}

static void arm64_by_fp(void **state)
{
	struct scene s;

	setup(&s, TABLE_ARM64);
	s.start.fp = SP + 64;
	s.places[0] = (struct place){ .pc = 0x100, .rule = arm64(true, 16, MODE_PAIR_CFA, 16) };
	s.stack[9] = ROOT;
	check_one_step(&s);
}

/* Registers x0…x30, sp, pc from 312 on. */
static void arm64_signal(void **state)
{
	struct scene s;
	struct walk w;

	setup(&s, TABLE_ARM64);
	s.places[0] = (struct place){ .pc = 0x100, .rule = RULE_ARM64_SPECIAL | RULE_SIGNAL };
	s.places[1] = (struct place){ .pc = 0x300, .rule = arm64(false, 0, MODE_LR, 0) };
	s.stack[39 + 30] = ROOT; /* lr */
	s.stack[39 + 31] = SP;
	s.stack[39 + 32] = 0x300;
	w = go(&s);
	assert_int_equal(w.nr, 3);
	assert_int_equal(w.frames[2], ROOT);
}

static void arm64_code_by_hand_leaves_lr(void **state)
{
	struct scene s;

	setup(&s, TABLE_ARM64);
	s.start.lr = ROOT;
	s.places[0] = (struct place){ .pc = 0x100, .rule = special(&s, RULE_NONE) };
	check_one_step(&s);
	s.places[0].anon = true; /* generated code keeps frame records */
	s.start.fp = SP + 16;
	s.start.lr = 0xbad;
	s.stack[3] = ROOT;
	check_one_step(&s);
}

static void ends_are_told_apart(void **state)
{
	struct scene s;
	struct walk w;

	setup(&s, TABLE_X86);
	s.places[0] = (struct place){ .pc = 0x100, .rule = x86(false, 8, 0) };
	s.stack[0] = 0x999; /* nothing there */
	assert_int_equal(go(&s).end, UNWIND_END_NO_CODE);
	s.stack[0] = 0;
	assert_int_equal(go(&s).end, UNWIND_END_NO_CODE);
	s.places[0].rule = x86(false, 1024, 0); /* beyond the copy */
	assert_int_equal(go(&s).end, UNWIND_END_READ);
	s.places[0].rule = x86(false, 8, 0);
	s.stack[0] = 0x101;
	for (size_t i = 1; i < WORDS; i++)
		s.stack[i] = 0x101;
	assert_true(walk_run(&w, &s.start, 10, CALL_GRAPH_AUTO, lookup, &s));
	assert_int_equal(w.end, UNWIND_END_DEPTH);
	assert_int_equal(w.nr, 10);
	s.pending = true;
	assert_false(walk_run(&w, &s.start, 10, CALL_GRAPH_AUTO, lookup, &s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_by_sp),
		cmocka_unit_test(x86_by_fp_that_was_saved_on_the_way),
		cmocka_unit_test(x86_return_address_must_lie_higher),
		cmocka_unit_test(x86_plt_pushes_in_the_middle),
		cmocka_unit_test(x86_exception_through_memory),
		cmocka_unit_test(x86_exception_in_a_register),
		cmocka_unit_test(x86_register_that_the_called_function_keeps),
		cmocka_unit_test(x86_register_that_a_function_further_in_has),
		cmocka_unit_test(x86_register_where_nothing_is_called),
		cmocka_unit_test(registers_are_lost_above_a_call),
		cmocka_unit_test(x86_signal_restores_everything),
		cmocka_unit_test(a_signal_may_lead_to_another_stack),
		cmocka_unit_test(frame_pointers_where_nothing_is_known),
		cmocka_unit_test(a_frame_pointer_must_be_plausible),
		cmocka_unit_test(generated_code_that_is_about_to_return),
		cmocka_unit_test(records_end_with_a_zero_link),
		cmocka_unit_test(records_may_lead_to_another_stack),
		cmocka_unit_test(arm64_modes),
		cmocka_unit_test(arm64_leaf_uses_the_link_register),
		cmocka_unit_test(arm64_link_register_only_once),
		cmocka_unit_test(arm64_by_fp),
		cmocka_unit_test(arm64_signal),
		cmocka_unit_test(arm64_code_by_hand_leaves_lr),
		cmocka_unit_test(ends_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
