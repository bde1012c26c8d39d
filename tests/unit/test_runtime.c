/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What runtime a process runs, by its name and by the files whose code it was in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "profile/breaks.h"
#include "profile/nameless.h"
#include "profile/profile.h"
#include "profile/runtime.h"

/* One sample in code of a module; the stack says how it ends. */
static uint32_t add(struct profile *p, const char *process, uint32_t pid, enum frame_kind kind,
		    uint32_t module, enum unwind_end end)
{
	uint32_t frame = profile_frame(p, kind, module, 0x1000 + pid);
	struct sample s = { .pid = pid, .tid = pid, .count = 1, .weight = 1 };

	profile_name_frame(p, frame, profile_string(p, PROFILE_JIT), 0);
	s.process = s.thread = profile_string(p, process);
	s.ustack = profile_stack(p, &frame, 1, end, 0);
	profile_add_sample(p, &s);
	return s.process;
}

static uint32_t of_file(struct profile *p, const char *process, const char *path)
{
	return add(p, process, 1, FRAME_USER, profile_add_module(p, path), UNWIND_END_ROOT);
}

static void test_by_name_and_by_file(void **state)
{
	struct profile *p = profile_new();
	uint32_t java = of_file(p, "java", "/usr/bin/java"),
		 worker = of_file(p, "worker", "/usr/lib/jvm/lib/server/libjvm.so"),
		 app = of_file(p, "app", "/opt/ruby/lib/libruby.so.3.1"),
		 web = of_file(p, "web", "/usr/bin/php8.2"),
		 other = of_file(p, "other", "/usr/lib/libjvm.so-not");
	struct runtime_finder f = { .profile = p };

	assert_string_equal(runtime_find(&f, java)->process, "java");
	assert_string_equal(runtime_find(&f, worker)->process, "java");
	assert_string_equal(runtime_find(&f, app)->process, "ruby");
	assert_string_equal(runtime_find(&f, web)->process, "php");
	assert_null(runtime_find(&f, other)->process);
	assert_non_null(runtime_find(&f, other)->whole);
	assert_null(runtime_find(&f, profile_string(p, "never seen"))->process);
	runtime_finder_release(&f);
	profile_free(p);
}

/* As on a host where programs start all the time: each process has generated code of its own. */
static void test_many_processes_cost_little(void **state)
{
	enum { PROCESSES = 20000 };
	struct profile *p = profile_new();
	clock_t begin;
	struct nameless n;
	struct breaks b;
	char name[16];

	for (uint32_t i = 0; i < PROCESSES; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		add(p, name, i + 1, FRAME_ANON, profile_add_generated(p, i + 1), UNWIND_END_BAD_FP);
	}
	begin = clock();
	nameless_init(&n, p);
	breaks_init(&b, p);
	assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
	assert_int_equal(n.nr, PROCESSES);
	assert_non_null(strstr(n.rows[PROCESSES - 1].remedy, "generated code"));
	assert_int_equal(b.weight, PROCESSES);
	nameless_release(&n);
	breaks_release(&b);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_name_and_by_file),
		cmocka_unit_test(test_many_processes_cost_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
