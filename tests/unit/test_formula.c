/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Formulas: precedence, what is no formula, and that nothing comes of a missing number. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metric/formula.h"

static double value_of(void *arg, const char *name)
{
	static const struct {
		const char *name;
		double value;
	} values[] = { { "a", 2 },
		       { "b", 5 },
		       { "zero", 0 },
		       { "@other", 7 },
		       { "exe.1_ports_util", 3 },
		       { "none", NAN } };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		if (!strcmp(values[i].name, name))
			return values[i].value;
	fail_msg("asked for %s", name);
	return NAN;
}

static double eval(const char *text, const char **zero)
{
	struct formula f;
	const char *ignored;
	static char kept[FORMULA_NAME_MAX];
	double value;

	if (!formula_parse(&f, text, NULL))
		fail_msg("no formula: %s", text);
	value = formula_eval(&f, value_of, NULL, zero ? zero : &ignored);
	if (zero && *zero)
		*zero = strcpy(kept, *zero);
	return value;
}

static void has_the_usual_precedence(void **state)
{
	assert_float_equal(eval("1 + 2 * 3", NULL), 7, 0);
	assert_float_equal(eval("(1 + 2) * 3", NULL), 9, 0);
	assert_float_equal(eval("10 - 4 - 3", NULL), 3, 0);
	assert_float_equal(eval("100 / 10 / 5", NULL), 2, 0);
	assert_float_equal(eval("100 * a / b", NULL), 40, 0);
	assert_float_equal(eval("2.25*4", NULL), 9, 1e-12);
	assert_float_equal(eval("max(a, b) - min(a,b)", NULL), 3, 0);
	assert_float_equal(eval("max(0, a - b) + min(1, a)", NULL), 1, 0);
	assert_float_equal(eval("a * exe.1_ports_util + @other", NULL), 13, 0);
	assert_float_equal(eval(" ( ( a ) ) ", NULL), 2, 0);
}

static void what_is_no_formula_is_refused(void **state)
{
	static const struct {
		const char *text;
		size_t at;
	} bad[] = {
		{ "", 0 },	 { "a +", 3 },	  { "(a", 2 },	     { "a)", 1 },
		{ "a b", 2 },	 { "max(a)", 5 }, { "max(a, b", 8 }, { "avg(a, b)", 4 },
		{ "1e5", 1 },	 { "- a", 0 },	  { "@", 1 },	     { "@1", 1 },
		{ "a % b", 2 },	 { "a,b", 1 },	  { "3x", 1 },	     { "min(a, b, a)", 8 },
		{ "a ** b", 3 }, { "a /", 3 },	  { "1.2.3", 3 },
	};
	struct formula f;
	size_t at;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (formula_parse(&f, bad[i].text, &at))
			fail_msg("taken: %s", bad[i].text);
		if (at != bad[i].at)
			fail_msg("%s: error at %zu, not at %zu", bad[i].text, at, bad[i].at);
	}
}

static void has_limits(void **state)
{
	char text[512] = "";
	struct formula f;
	size_t i;

	for (i = 0; i < FORMULA_DEPTH_MAX; i++)
		strcat(text, "(");
	strcat(text, "a");
	for (i = 0; i < FORMULA_DEPTH_MAX; i++)
		strcat(text, ")");
	assert_true(formula_parse(&f, text, NULL));
	memmove(text + 1, text, strlen(text) + 1);
	text[0] = '(';
	strcat(text, ")");
	assert_false(formula_parse(&f, text, NULL));

	strcpy(text, "a");
	for (i = 0; i < FORMULA_STEPS_MAX / 2 - 1; i++)
		strcat(text, "+a");
	assert_true(formula_parse(&f, text, NULL));
	assert_int_equal(f.nr, FORMULA_STEPS_MAX - 1);
	strcat(text, "+a");
	assert_false(formula_parse(&f, text, NULL));

	memset(text, 'x', FORMULA_NAME_MAX - 1);
	text[FORMULA_NAME_MAX - 1] = '\0';
	assert_true(formula_parse(&f, text, NULL));
	strcat(text, "x");
	assert_false(formula_parse(&f, text, NULL));
}

static void names_keep_order_and_place(void **state)
{
	static const char text[] = "100 * (a - @other) / b";
	struct formula f;
	size_t nr = 0;

	assert_true(formula_parse(&f, text, NULL));
	for (size_t i = 0; i < f.nr; i++) {
		const struct formula_step *s = &f.steps[i];
		static const char *const names[] = { "a", "@other", "b" };

		if (s->kind != FORMULA_NAME)
			continue;
		assert_string_equal(s->name, names[nr]);
		assert_memory_equal(text + s->at, names[nr], s->len);
		nr++;
	}
	assert_int_equal(nr, 3);
}

static void a_missing_number_goes_through_everything(void **state)
{
	static const char *const formulas[] = {
		"none",		"1 + none",	"none - none",	       "0 * none",
		"none / b",	"b / none",	"max(0, none)",	       "max(none, 0)",
		"min(a, none)", "min(none, a)", "a - max(1, none) * 0"
	};

	for (size_t i = 0; i < sizeof(formulas) / sizeof(*formulas); i++) {
		const char *zero;

		if (!isnan(eval(formulas[i], &zero)))
			fail_msg("a number: %s", formulas[i]);
		assert_null(zero);
	}
}

static void division_by_0_is_none_and_says_by_what(void **state)
{
	const char *zero;

	assert_true(isnan(eval("a / zero", &zero)));
	assert_string_equal(zero, "zero");
	assert_true(isnan(eval("zero / (3 * zero)", &zero)));
	assert_string_equal(zero, "zero");
	assert_true(isnan(eval("a / (b - 5)", &zero)));
	assert_null(zero);
	assert_true(isnan(eval("max(0, 1 / zero)", &zero)));
	assert_string_equal(zero, "zero");
	assert_float_equal(eval("zero / a", &zero), 0, 0);
	assert_null(zero);
}

/* "1000 * (a+b) / c" is factor 1000, two above, one below. */
static void plain_ratios_have_two_sides(void **state)
{
	static const struct {
		const char *text;
		double factor;
		size_t above, below; /* 0: it is none */
	} cases[] = {
		{ "a / b", 1, 1, 1 },
		{ "100 * a / b", 100, 1, 1 },
		{ "a / b * 1000", 1000, 1, 1 },
		{ "1000 * (a + b) / c", 1000, 2, 1 },
		{ "100 * (a + b + c) / (d + e)", 100, 3, 2 },
		{ "2 * 50 * a / b", 100, 1, 1 },
		{ "a", 0, 0, 0 },
		{ "100", 0, 0, 0 },
		{ "100 * a", 0, 0, 0 },
		{ "100 / a", 0, 0, 0 },
		{ "(a - b) / c", 0, 0, 0 },
		{ "a / b / c", 0, 0, 0 },
		{ "a * b / c", 0, 0, 0 },
		{ "1 - a / b", 0, 0, 0 },
		{ "a / b + c", 0, 0, 0 },
		{ "(2 * a + b) / c", 0, 0, 0 },
		{ "max(a, b) / c", 0, 0, 0 },
		{ "(a+b+c+d+e+f+g+h+i) / j", 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct formula_ratio ratio = {};
		struct formula f;

		assert_true(formula_parse(&f, cases[i].text, NULL));
		if (formula_ratio(&f, &ratio) != (cases[i].above != 0))
			fail_msg("%s", cases[i].text);
		if (!cases[i].above)
			continue;
		assert_float_equal(ratio.factor, cases[i].factor, 0);
		assert_int_equal(ratio.above.nr, cases[i].above);
		assert_int_equal(ratio.below.nr, cases[i].below);
		assert_string_equal(ratio.above.names[0], "a");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_usual_precedence),
		cmocka_unit_test(what_is_no_formula_is_refused),
		cmocka_unit_test(has_limits),
		cmocka_unit_test(names_keep_order_and_place),
		cmocka_unit_test(a_missing_number_goes_through_everything),
		cmocka_unit_test(division_by_0_is_none_and_says_by_what),
		cmocka_unit_test(plain_ratios_have_two_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
