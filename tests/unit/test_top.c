/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions by weight: which of one name are one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "profile/top.h"
#include "profile/tree.h"

static uint32_t named(struct profile *p, enum frame_kind kind, uint32_t module, uint64_t offset,
		      const char *name)
{
	uint32_t id = profile_frame(p, kind, module, offset);

	profile_name_frame(p, id, profile_string(p, name), 0);
	return id;
}

static void add(struct profile *p, uint32_t tid, const char *thread, uint32_t ustack,
		uint32_t kstack, uint64_t count)
{
	struct sample s = { .pid = 100,
			    .tid = tid,
			    .count = count,
			    .weight = count * 10,
			    .ustack = ustack,
			    .kstack = kstack };

	s.thread = s.process = profile_string(p, thread);
	profile_add_sample(p, &s);
}

/* write() of a library, of a copy of it, and of the kernel below. */
static void functions_of_one_name_are_apart_by_module(void **state)
{
	struct profile *p = profile_new();
	uint32_t libc = profile_add_module(p, "/usr/lib/libc.so.6");
	uint32_t copy = profile_add_module(p, "/old/lib/libc.so.6");
	uint32_t kernel = profile_add_module(p, "[kernel]");
	uint32_t f = named(p, FRAME_USER, libc, 1, "write"),
		 g = named(p, FRAME_USER, copy, 1, "write"),
		 k = named(p, FRAME_KERNEL, kernel, 2, "write");
	struct tree *t;
	struct top_row *rows;
	size_t nr;

	add(p, 1, "x", profile_stack(p, &f, 1, 0, 0), profile_stack(p, &k, 1, 0, 0), 5);
	add(p, 1, "x", profile_stack(p, &f, 1, 0, 0), 0, 2);
	add(p, 1, "x", profile_stack(p, &g, 1, 0, 0), 0, 1);
	t = tree_new(p, &(struct view){});
	rows = top_rows(t, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(rows[0].module, kernel);
	assert_int_equal(rows[0].self, 5);
	assert_int_equal(rows[0].total, 5);
	assert_true(rows[1].module == libc || rows[1].module == copy);
	assert_int_equal(rows[1].self, 3);
	assert_int_equal(rows[1].total, 8);
	free(rows);
	rows = top_names(t, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(rows[0].self, 8);
	assert_int_equal(rows[0].total, 8);
	free(rows);
	tree_free(t);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_one_name_are_apart_by_module),
	};

	return cmocka_run_group_tests_name("top", tests, NULL, NULL);
}
