/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How often a recording that goes on asks for the perf map of a process that has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "proc/jit_files.h"

struct asked {
	int folders, maps;
	int answer; /* for maps */
};

static int answer(void *arg, const struct jit_place *place, int tmp, struct jit_refusal *why)
{
	struct asked *a = arg;

	if (tmp >= 0) {
		a->maps++;
		return a->answer;
	}
	a->folders++;
	return dup(0);
}

static void a_map_that_is_missing_is_seldom_asked_for(void **state)
{
	struct asked a = { .answer = -1 };
	struct jit_files *j = jit_files_new(getpid(), &(struct jit_opener){ answer, &a });

	assert_non_null(j);
	assert_int_equal(a.folders, 1);
	for (int i = 0; i < 100; i++)
		jit_files_try_map(j, false);
	assert_in_range(a.maps, 1, 3);
	jit_files_free(j);
}

/* What it wrote in its last moments is found, and nobody asks again. */
static void a_process_that_is_gone_is_asked_for_once_more(void **state)
{
	struct asked a = { .answer = -1 };
	struct jit_files *j = jit_files_new(getpid(), &(struct jit_opener){ answer, &a });
	int before;

	assert_non_null(j);
	for (int i = 0; i < 3; i++)
		jit_files_try_map(j, false);
	before = a.maps;
	for (int i = 0; i < 100; i++)
		jit_files_try_map(j, true);
	assert_int_equal(a.maps, before + 1);
	jit_files_free(j);
}

static void a_map_that_is_there_is_opened_at_once(void **state)
{
	struct asked a = { .answer = -1 };
	struct jit_files *j = jit_files_new(getpid(), &(struct jit_opener){ answer, &a });

	assert_non_null(j);
	a.answer = dup(0);
	jit_files_try_map(j, false);
	assert_int_equal(j->map, a.answer);
	for (int i = 0; i < 10; i++)
		jit_files_try_map(j, false);
	assert_int_equal(a.maps, 1);
	jit_files_free(j);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_that_is_missing_is_seldom_asked_for),
		cmocka_unit_test(a_process_that_is_gone_is_asked_for_once_more),
		cmocka_unit_test(a_map_that_is_there_is_opened_at_once),
	};

	return cmocka_run_group_tests_name("jit_files", tests, NULL, NULL);
}
