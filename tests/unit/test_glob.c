/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Name patterns: the automaton against fnmatch(3), which knows the same language. */
#include <errno.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/glob.h"

/* As comm_matches() in bpf/filter.bpf.c: does name (up to 16 bytes) match? */
static bool automaton_matches(const struct prof_glob *g, const char *name)
{
	uint64_t live = g->start;

	for (int i = 0; i < PROF_COMM_LEN && name[i]; i++) {
		live = ((live & g->step[(unsigned char)name[i]]) << 1) | (live & g->star);
		live |= (live & g->star) << 1;
	}
	return live & g->accept;
}

static bool matches(const char *pattern, const char *name)
{
	struct prof_glob g;
	char padded[PROF_COMM_LEN] = "";

	strncpy(padded, name, sizeof(padded) - 1);
	assert_int_equal(glob_compile(&g, pattern), 0);
	return automaton_matches(&g, padded);
}

static void knows_the_usual_patterns(void **state)
{
	assert_true(matches("redis-server", "redis-server"));
	assert_false(matches("redis", "redis-server"));
	assert_false(matches("redis-server", "redis"));
	assert_true(matches("worker-*", "worker-"));
	assert_true(matches("worker-*", "worker-12"));
	assert_true(matches("*", ""));
	assert_true(matches("**r**", "worker"));
	assert_true(matches("w?r[k-m]er", "worker"));
	assert_false(matches("w[!o]rker", "worker"));
	assert_true(matches("a\\*b", "a*b"));
	assert_false(matches("a\\*b", "axb"));
	assert_true(matches("[]x]", "]"));
}

static void a_list_is_any_of_its_patterns(void **state)
{
	assert_true(matches("nginx,php*", "nginx"));
	assert_true(matches("nginx,php*", "php-fpm8.2"));
	assert_false(matches("nginx,php*", "nginxphp"));
	assert_false(matches("a*,b*,c", "cc"));
	assert_true(matches("a*,b*,*c", "zzc"));
	assert_false(matches("a,b", "ab"));
}

static void agrees_with_fnmatch(void **state)
{
	static const char alphabet[] = "ab*?[]-a!b";
	unsigned int seed = 1;
	int compared = 0;

	for (int round = 0; round < 200000; round++) {
		char pattern[9] = "", name[7] = "";
		struct prof_glob g;
		char padded[PROF_COMM_LEN] = "";

		for (int i = 0, n = rand_r(&seed) % 8 + 1; i < n; i++)
			pattern[i] = alphabet[rand_r(&seed) % (sizeof(alphabet) - 1)];
		for (int i = 0, n = rand_r(&seed) % 6; i < n; i++)
			name[i] = "ab]-"[rand_r(&seed) % 4];
		/* An open bracket is a mistake here and a literal there. */
		if (glob_compile(&g, pattern) || strstr(pattern, "[") != strrchr(pattern, '['))
			continue;
		strcpy(padded, name);
		compared++;
		if (automaton_matches(&g, padded) != !fnmatch(pattern, name, 0))
			fail_msg("pattern '%s', name '%s': fnmatch says %d", pattern, name,
				 !fnmatch(pattern, name, 0));
	}
	assert_true(compared > 50000);
}

static void refuses_what_it_cannot_hold(void **state)
{
	struct prof_glob g;
	char longest[80];

	assert_int_equal(glob_compile(&g, "[abc"), -EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[63] = '\0';
	assert_int_equal(glob_compile(&g, longest), 0);
	longest[63] = 'x';
	longest[64] = '\0';
	assert_int_equal(glob_compile(&g, longest), -E2BIG);
	longest[31] = ',';
	longest[63] = '\0';
	assert_int_equal(glob_compile(&g, longest), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_usual_patterns),
		cmocka_unit_test(a_list_is_any_of_its_patterns),
		cmocka_unit_test(agrees_with_fnmatch),
		cmocka_unit_test(refuses_what_it_cannot_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
