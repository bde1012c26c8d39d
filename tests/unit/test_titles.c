/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tells processes of one name apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/titles.h"

static struct profile *p;

static int setup(void **state)
{
	p = profile_new();
	return 0;
}

static int teardown(void **state)
{
	profile_free(p);
	return 0;
}

static void add(uint32_t pid, const char *process)
{
	uint32_t name = profile_string(p, process);
	struct sample s = { .pid = pid, .process = name, .thread = name, .count = 1 };
	struct thread_time t = { .pid = pid, .process = name, .thread = name };

	profile_add_sample(p, &s);
	profile_add_thread(p, &t);
}

#define ROW(pid, name, line)                                                                       \
	{                                                                                          \
		pid, profile_string(p, name), line, sizeof(line) - 1                               \
	}

static const char *title(uint32_t pid)
{
	uint32_t text = titles_find(p, pid);

	return text ? profile_str(p, text) : "none";
}

static void only_of_those_that_share_a_name(void **state)
{
	struct title_row *rows;
	size_t nr;

	add(7, "alone");
	add(5, "java");
	add(3, "java");
	add(0, "swapper");
	add(0, "swapper");
	rows = titles_wanted(p, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(rows[0].pid, 3);
	assert_int_equal(rows[1].pid, 5);
	free(rows);
}

static void words_common_to_all_say_nothing(void **state)
{
	const struct title_row rows[] = {
		ROW(1, "java", "/usr/bin/java\0-Xmx1g\0-jar\0a.jar\0"),
		ROW(2, "java", "/usr/bin/java\0-Xmx1g\0-jar\0b.jar\0"),
		ROW(3, "java", ""),
		ROW(4, "python3", "/usr/bin/python3\0a.py\0"),
		ROW(5, "python3", "python3\0b.py\0--api-key=123\0--db_password=x\0"),
		ROW(6, "same", "same\0words\0"),
		ROW(7, "same", "same\0words\0"),
	};

	titles_add(p, rows, sizeof(rows) / sizeof(*rows));
	assert_string_equal(title(1), "java a.jar");
	assert_string_equal(title(2), "java b.jar");
	assert_string_equal(title(3), "none");
	assert_string_equal(title(4), "python3 a.py");
	assert_string_equal(title(5), "python3 b.py --api-key= --db_password=");
	assert_string_equal(title(6), "none");
	assert_string_equal(title(7), "none");
}

static void what_a_program_wrote_is_shown_as_it_is(void **state)
{
	const struct title_row rows[] = {
		ROW(1, "postgres", "/usr/lib/postgres\0-D\0/var\0"),
		ROW(2, "postgres", "postgres: walwriter   \0\0\0\0\0"),
		ROW(3, "postgres", "postgres: a: b"),
		ROW(4, "postgres", "postgres:\0\0\0"),
		ROW(5, "postgres", "\0\0\0\0"),
		ROW(6, "postgres",
		    "postgres: 0123456789012345678901234567890123456789012345678901234"
		    "56789"),
	};

	titles_add(p, rows, sizeof(rows) / sizeof(*rows));
	assert_string_equal(title(1), "postgres -D /var");
	assert_string_equal(title(2), "postgres: walwriter");
	assert_string_equal(title(3), "postgres: a: b");
	assert_string_equal(title(4), "postgres:");
	assert_string_equal(title(5), "none");
	assert_int_equal(strlen(title(6)), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_of_those_that_share_a_name, setup, teardown),
		cmocka_unit_test_setup_teardown(words_common_to_all_say_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_program_wrote_is_shown_as_it_is, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
