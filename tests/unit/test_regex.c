/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base/regex: expressions that would take much memory are refused, others mean what they did. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/regex.h"

#define ROWS(t) (sizeof(t) / sizeof(*(t)))

static const struct {
	const char *text, *yes, *no;
} taken[] = {
	{ "^(hot|cold)$", "hot", "hotter" },
	{ "a+b", "xaab", "xb" },
	{ "^[0-9a-f]{64}$", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	  "0123" },
	{ "^a{2,}$", "aaa", "a" },
	{ "^a{2,3}$", "aa", "aaaa" },
	{ "[]+]x", "]x", "ax" },
	{ "[^]+]x", "ax", "+x" },
	{ "^[[:digit:]+]+$", "1+2", "a" },
	{ "\\+\\{3\\}\\)", "+{3})", "+++" },
	{ "^(a{10}){50}$", NULL, "a" },
	{ "std::(vector|map)<.*>", "std::map<int>", "std::set" },
	{ "^(([a-z]+::)*[a-z]+,)*((a*)?b)*$", "a::b,c,ab", "a:b" },
	{ "^(.*?)(x.*?)$", "axb", "b" },
	{ "^(([0-9a-f]{2}:){5}[0-9a-f]{2},?){3}$", NULL, "ab" },
	{ "^(a|b?c){2,40}$", "abcca", "b" },
	{ "^(ab?){2,40}$", "abaa", "b" },
	{ "^([a-z]? ?){3}x$", "a bx", "ay" },
	{ "\\bmain\\b|^$", "a main b", "domain" },
};

static const struct {
	const char *text, *why;
} refused[] = {
	{ "a++++++++++++++++++++++++++++++", "repeats what is repeated" },
	{ "((a+)+b)+{400}", "more than 1000" },
	{ "(a{100}){100}", "more than 1000" },
	{ "(([a-z]{30}){30}){30}", "more than 1000" },
	{ "x{99999999999999999999999}", "more than 1000" },
	{ "a*+?+*+++++++++", "repeats what is repeated" },
	/* Some 2, 4 and 15 s of the C library; and an hour. */
	{ "^(a**a**a**a**a**a**a**a**a**a**a**a**a**a**a**a**a**a**a**a**ash)$",
	  "repeats what is" },
	{ "^(b**************************************************************ash.ssh.*)$",
	  "repeats" },
	{ "^(a****a****a****a****a****a****a****a****a****a****ash)$", "repeats what is repeated" },
	{ "^((a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*ash)$",
	  "repeats" },
	/* What can be empty, many times: all of these took more than eight seconds. */
	{ "(()+^){0,56}", "can be empty" },
	{ "((a|b|)?){50}", "can be empty" },
	{ "((){2,34}a?){14,}", "can be empty" },
	{ "(\\b){31,}(^|a+){3,}", "can be empty" },
	{ "b+(a{0,11}|[ab]*()$){33,}", "can be empty" },
	{ "(a)\\1", "references back" },
	{ "a{", NULL },
	{ "[", NULL },
	{ "[[:alpha:", NULL },
	{ "(", NULL },
	{ "\\", NULL },
};

static bool matches(const regex_t *re, const char *text)
{
	return !regexec(re, text, 0, NULL, 0);
}

static void test_small_ones_are_taken(void **state)
{
	char why[REGEX_WHY];
	regex_t re;

	(void)state;
	for (size_t i = 0; i < ROWS(taken); i++) {
		if (!regex_compile(&re, taken[i].text, 0, why))
			fail_msg("%s: %s", taken[i].text, why);
		if (taken[i].yes && !matches(&re, taken[i].yes))
			fail_msg("%s does not match %s", taken[i].text, taken[i].yes);
		if (matches(&re, taken[i].no))
			fail_msg("%s matches %s", taken[i].text, taken[i].no);
		regfree(&re);
	}
	assert_true(regex_compile(&re, "hot", REG_ICASE, why));
	assert_true(matches(&re, "HOT"));
	regfree(&re);
}

static void test_large_ones_are_refused(void **state)
{
	char why[REGEX_WHY];
	regex_t re;

	(void)state;
	for (size_t i = 0; i < ROWS(refused); i++) {
		if (regex_compile(&re, refused[i].text, 0, why))
			fail_msg("%s is taken", refused[i].text);
		assert_true(*why);
		if (refused[i].why && !strstr(why, refused[i].why))
			fail_msg("%s: %s", refused[i].text, why);
	}
}

static void test_lengths_have_a_limit(void **state)
{
	char text[REGEX_MAX_BYTES + 2], why[REGEX_WHY];
	regex_t re;

	(void)state;
	memset(text, '.', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_false(regex_compile(&re, text, 0, why));
	assert_non_null(strstr(why, "longer than"));
	text[REGEX_MAX_NODES + 1] = '\0';
	assert_false(regex_compile(&re, text, 0, why));
	text[REGEX_MAX_NODES] = '\0';
	assert_true(regex_compile(&re, text, 0, why));
	regfree(&re);
	memset(text, '(', REGEX_MAX_DEPTH + 1);
	assert_false(regex_compile(&re, text, 0, why));
	assert_non_null(strstr(why, "groups"));
}

/* As a name stands on the screen. */
static void test_literal(void **state)
{
	static const char *const names[] = { "fib (burn.py)", "long J.mapThem(int)",
					     "slices.pdqsortOrdered[go.shape.int]",
					     "[libcrypto.so.3+0x29c240]", "a{2}\\^$|*?" };
	char why[REGEX_WHY], *literal;
	regex_t re;

	(void)state;
	for (size_t i = 0; i < ROWS(names); i++) {
		literal = regex_literal(names[i]);
		assert_non_null(literal);
		assert_true(regex_compile(&re, literal, 0, why));
		assert_true(matches(&re, names[i]));
		assert_false(matches(&re, "slices"));
		assert_false(matches(&re, "aa"));
		regfree(&re);
		free(literal);
	}
	assert_null(regex_literal("memcpy"));
	assert_null(regex_literal(".")); /* most mean any character */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_ones_are_taken),
		cmocka_unit_test(test_large_ones_are_refused),
		cmocka_unit_test(test_lengths_have_a_limit),
		cmocka_unit_test(test_literal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
