/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stack written by hand, and rules for a few addresses, for tests of the step. */
#ifndef BPFPROF_TESTS_WALK_SCENE_H
#define BPFPROF_TESTS_WALK_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unwind/walk.h"

#define SP    0x7ffe00001000ull
#define WORDS 80
#define ROOT  0xf00ull /* where all walks end: STOP */

struct place {
	uint64_t pc; /* that is looked up */
	uint32_t rule;
	struct table_exception exception;
	bool anon;
};

struct scene {
	struct walk_start start;
	uint64_t stack[WORDS];
	uint64_t regs[34];
	struct place places[8];
	bool pending;
};

static inline uint32_t special(const struct scene *s, uint32_t code)
{
	return (s->start.arch == TABLE_X86 ? RULE_X86_SPECIAL : RULE_ARM64_SPECIAL) | code;
}

static inline bool lookup(void *arg, uint64_t pc, struct walk_rule *rule)
{
	const struct scene *s = arg;

	if (s->pending)
		return false;
	rule->rule = special(s, RULE_NO_CODE);
	for (size_t i = 0; i < 8 && s->places[i].pc; i++)
		if (s->places[i].pc == pc)
			*rule = (struct walk_rule){ s->places[i].rule, &s->places[i].exception,
						    s->places[i].anon };
	if (pc == ROOT - 1 || pc == ROOT)
		rule->rule = special(s, RULE_STOP);
	return true;
}

static inline void setup(struct scene *s, enum table_arch arch)
{
	*s = (struct scene){};
	s->start = (struct walk_start){ .arch = arch,
					.pc = 0x100,
					.sp = SP,
					.pc_mask = (1ull << 48) - 1,
					.regs = s->regs,
					.stack = (uint8_t *)s->stack,
					.stack_bytes = sizeof(s->stack) };
}

static inline struct walk go(struct scene *s)
{
	struct walk w;

	assert_true(walk_run(&w, &s->start, 100, CALL_GRAPH_AUTO, lookup, s));
	return w;
}

/* The walk came from 0x100 straight to the root. */
static inline void check_one_step(struct scene *s)
{
	struct walk w = go(s);

	assert_int_equal(w.end, UNWIND_END_CFI_ROOT);
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.frames[0], 0x100);
	assert_int_equal(w.frames[1], ROOT);
}

static inline uint32_t x86(bool by_fp, uint32_t cfa, uint32_t slot)
{
	return (by_fp ? RULE_X86_BASE_FP : 0) | cfa / 8 << 7 | slot / 8;
}

static inline uint32_t arm64(bool by_fp, uint32_t cfa, enum rule_mode mode, uint32_t slot)
{
	return (by_fp ? RULE_ARM64_BASE_FP : 0) | cfa / 16 << 9 | mode << 6 | slot / 8;
}

#endif
