/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SOURCES: src/python/lines.c src/collect/python_merge.c */
/*
 * Frames of Python: words that stand for them, their place among native frames, and lines. The
 * tables of lines are those that each version made of one function, and its own answers
 * (code.co_lines(), dis.findlinestarts()) are what is compared with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bpf/python_step.bpf.h"
#include "collect/python_merge.h"
#include "python/lines.h"

struct run {
	uint32_t from, line; /* instructions; 0 = of no line */
};

static const struct lines {
	const char *version, *table;
	enum python_lines how;
	uint32_t sz, nr; /* bytes, instructions */
	struct run runs[16];
} tables[] = {
	{ "3.9",
	  "\x00\x02\x04\x02\x0c\x01\x04\x01\x04\x01\x02\xff\x06\x7f\x00\x18\x14\x01",
	  LINES_LNOTAB,
	  18,
	  28,
	  { { 0, 3 },
	    { 2, 5 },
	    { 8, 6 },
	    { 10, 7 },
	    { 12, 8 },
	    { 13, 7 },
	    { 16, 158 },
	    { 26, 159 } } },
	{ "3.10",
	  "\x04\x02\x0c\x02\x04\x01\x04\x01\x02\x01\x06\xff\x00\x7f\x14\x18\x04\x01",
	  LINES_LINETABLE,
	  18,
	  28,
	  { { 0, 3 },
	    { 2, 5 },
	    { 8, 6 },
	    { 10, 7 },
	    { 12, 8 },
	    { 13, 7 },
	    { 16, 158 },
	    { 26, 159 } } },
	{ "3.11",
	  "\x80\x00\xe0\x08\x09\x80\x41\xe5\x0d\x12\x90\x31\x89\x58\x8c\x58\xf0\x00\x59\x02\x05"
	  "\x22\xf0\x00\x59\x02\x05\x22\x88\x01\xd8\x0b\x0c\xf0\x00\x02\x09\x15\xd8\x0c\x0d\x90"
	  "\x21\xd8\x12\x13\xf1\x03\x01\x13\x14\xf1\x00\x01\x0d\x15\x88\x41\xf0\x6e\x04\x00\x0d"
	  "\x22\xd0\x0c\x21\x9d\x05\x98\x61\x99\x08\x9c\x08\xd0\x0c\x21\xd1\x0c\x21\xd4\x0c\x21"
	  "\x88\x01\x88\x01\xd8\x0b\x0c\x80\x48",
	  LINES_LOCATIONS,
	  93,
	  58,
	  { { 0, 1 },
	    { 1, 3 },
	    { 3, 5 },
	    { 20, 6 },
	    { 22, 7 },
	    { 24, 8 },
	    { 25, 7 },
	    { 30, 158 },
	    { 56, 159 } } },
	{ "3.13",
	  "\x80\x00\xe0\x08\x09\x80\x41\xe4\x0d\x12\x90\x31\x8e\x58\x88\x01\xde\x0b\x0c\xd8\x0c"
	  "\x0d\xd8\x12\x13\xf1\x03\x01\x13\x14\xf1\x00\x01\x0d\x15\x88\x41\xf4\x6e\x04\x00\x19"
	  "\x1e\x98\x61\x9c\x08\xd3\x0c\x21\x99\x08\x90\x31\x8a\x51\x99\x08\x88\x01\xd0\x0c\x21"
	  "\x89\x01\xf1\x73\x04\x00\x0e\x16\xf0\x74\x04\x00\x0c\x0d\x80\x48\xf9\xf2\x03\x00\x0d"
	  "\x22",
	  LINES_LOCATIONS,
	  85,
	  67,
	  { { 0, 1 },
	    { 1, 3 },
	    { 3, 5 },
	    { 17, 6 },
	    { 24, 7 },
	    { 25, 8 },
	    { 26, 7 },
	    { 31, 158 },
	    { 58, 5 },
	    { 60, 159 },
	    { 62, 0 },
	    { 64, 158 } } },
};

static void lines_of_every_instruction(void **state)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const struct lines *t = &tables[i];
		const struct run *run = t->runs;

		for (uint32_t at = 0; at < t->nr; at++) {
			run += run[1].from && run[1].from <= at;
			if (python_line(t->how, 1, (const uint8_t *)t->table, t->sz, at) !=
			    run->line)
				fail_msg("%s: instruction %u is not of line %u", t->version, at,
					 run->line);
		}
	}
}

/* However short it is cut, and whatever it says, it ends. */
static void lines_of_any_bytes(void **state)
{
	uint8_t bytes[64];

	for (unsigned int seed = 0; seed < 2000; seed++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = seed * 2654435761u >> (i % 24) ^ i * seed;
		for (int how = LINES_LNOTAB; how <= LINES_LOCATIONS; how++)
			python_line(how, 1, bytes, seed % sizeof(bytes), seed % 300);
	}
}

#define CODE 0x7f0012345678ull

static void words_of_3_9(void **state)
{
	const struct python_layout l = { .code = 32, .previous = 24, .at = 104, .at_shift = 32 };
	__u64 words[PYTHON_WORDS] = { [3] = 0x1000, [4] = CODE, [13] = 0xabcd00000022ull };
	__u64 word = python_word(&l, words);

	assert_int_equal(PYTHON_CODE(word), CODE);
	assert_int_equal(PYTHON_INDEX(word), 0x11); /* bytes */
	assert_true(word & PYTHON_LAST_BIT);
	assert_true(PYTHON_IS(word));
	words[13] = 0xffffffff; /* -1: it has not begun */
	assert_int_equal(PYTHON_INDEX(python_word(&l, words)), 0);
}

static void words_of_3_11(void **state)
{
	const struct python_layout l = { .code = 32,
					 .previous = 48,
					 .at = 56,
					 .entry = 68,
					 .entry_mask = 0xff,
					 .entry_is = 1,
					 .header = 184 };
	__u64 words[PYTHON_WORDS] = { [4] = CODE, [7] = CODE + 184 + 40, [8] = 0x00ff00ff00ffull };

	assert_int_equal(PYTHON_INDEX(python_word(&l, words)), 20);
	assert_false(python_word(&l, words) & PYTHON_LAST_BIT);
	words[8] = 1ull << 32;
	assert_true(python_word(&l, words) & PYTHON_LAST_BIT);
	assert_int_equal(PYTHON_CODE(python_word(&l, words)), CODE);
	words[7] = CODE + 184 + 2 * 0x8000;
	assert_int_equal(PYTHON_INDEX(python_word(&l, words)), PYTHON_FAR);
}

/* The frame that stands for C's call has no code: in 3.14 another object stands there. */
static void words_of_3_13(void **state)
{
	const struct python_layout l = { .code = 0,
					 .previous = 8,
					 .at = 56,
					 .entry = 70,
					 .entry_mask = 0xff,
					 .entry_is = 3,
					 .header = 200,
					 .is_shim = 1 };
	__u64 words[PYTHON_WORDS] = { [0] = CODE | 1, [7] = CODE + 200 + 6 };

	assert_int_equal(PYTHON_CODE(python_word(&l, words)), CODE);
	assert_int_equal(PYTHON_INDEX(python_word(&l, words)), 3);
	words[8] = 3ull << 48;
	assert_int_equal(python_word(&l, words), PYTHON_LAST);
}

#define EVALUATOR 0x5000
#define OTHER	  0x9000
#define WORD(n)	  (PYTHON_FRAME | (n))
#define LAST(n)	  (PYTHON_LAST | (n))

/*
 * What becomes of a stack, a letter for each frame: 'e' a call of the evaluator, 'c' other code; in
 * the result digits are frames of Python.
 */
static const char *merged(const char *native, const uint64_t *words, uint32_t nr, bool complete)
{
	static const struct python_found found = { .nr_ranges = 1,
						   .evaluator = { { 0x5000, 0x6000 } } };
	static char text[64];
	uint64_t frames[64], addresses[32];
	struct arena_stack s = { .frames = frames };
	struct python_merge m;
	const uint64_t *put;
	size_t nr_put, len = 0;

	for (; native[s.nr_frames]; s.nr_frames++)
		frames[s.nr_frames] = addresses[s.nr_frames] =
			native[s.nr_frames] == 'e' ? EVALUATOR : OTHER;
	memcpy(frames + s.nr_frames, words, nr * sizeof(*words));
	s.nr_frames += nr;
	python_split(&s);
	assert_int_equal(s.nr_python, nr);
	python_merge_begin(&m, &found, &s, addresses, complete);
	for (size_t i = 0; i < s.nr_frames; i++) {
		if (!python_merge_next(&m, addresses[i], &put, &nr_put)) {
			text[len++] = native[i];
			continue;
		}
		for (size_t k = 0; k < nr_put; k++)
			text[len++] = '0' + PYTHON_CODE(put[k]) / 8;
	}
	text[len] = 0;
	return text;
}

static void a_run_takes_the_place_of_its_call(void **state)
{
	const uint64_t words[] = { WORD(1), LAST(2), LAST(3), PYTHON_WHOLE };
	const uint64_t shims[] = { WORD(1), WORD(2), LAST(0), WORD(3), LAST(0), PYTHON_WHOLE };

	assert_string_equal(merged("ccecec", words, 4, true), "cc12c3c");
	assert_string_equal(merged("ccecec", shims, 6, true), "cc12c3c");
	assert_string_equal(merged("cc", words, 0, true), "cc");
	/* C's mark alone: the function has not begun, or has ended. */
	assert_string_equal(merged("cecec", shims + 2, 4, true), "cc3c");
	assert_string_equal(merged("cecec", shims + 2, 1, true), "ccec");
}

/* The innermost call has no frame yet, or one is left of a call that has returned. */
static void whole_chains_are_matched_from_the_root(void **state)
{
	const uint64_t words[] = { WORD(1), LAST(2), LAST(3), PYTHON_WHOLE };

	assert_string_equal(merged("ececec", words, 4, true), "c12c3c");
	assert_string_equal(merged("cececec", words, 4, true), "cc12c3c");
	assert_string_equal(merged("eeecec", words, 4, true), "ee12c3c");
	assert_string_equal(merged("cec", words, 4, true), "c3c");
}

/* What could not be read is at the outer end. */
static void others_from_the_leaf(void **state)
{
	const uint64_t words[] = { WORD(1), LAST(2), LAST(3), PYTHON_WHOLE };

	assert_string_equal(merged("cecececc", words, 3, true), "c12c3cecc");
	assert_string_equal(merged("cec", words, 4, false), "c12c");
	assert_string_equal(merged("cec", words, 1, true), "c1c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_every_instruction),
		cmocka_unit_test(lines_of_any_bytes),
		cmocka_unit_test(words_of_3_9),
		cmocka_unit_test(words_of_3_11),
		cmocka_unit_test(words_of_3_13),
		cmocka_unit_test(a_run_takes_the_place_of_its_call),
		cmocka_unit_test(whole_chains_are_matched_from_the_root),
		cmocka_unit_test(others_from_the_leaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
