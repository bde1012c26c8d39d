/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What BOLT is given: addresses as linked, of the file with most of it; branches, else samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/output.h"

struct made {
	struct profile *p;
	uint32_t app, lib, thread;
};

/* The application's code is linked elsewhere than it lies in the file, that of the library not. */
static struct made make(void)
{
	struct made m = { .p = profile_new() };

	m.app = profile_add_module(m.p, "/bin/app");
	m.lib = profile_add_module(m.p, "/lib/libx.so");
	m.thread = profile_string(m.p, "app");
	m.p->meta.event = profile_string(m.p, "cycles:u, precise");
	profile_add_linked(m.p, &(struct linked){ 0x1000, 0x2000, 0x401000, m.app, 0 });
	profile_add_linked(m.p, &(struct linked){ 0x5000, 0x1000, 0x500000, m.app, 0 });
	profile_add_linked(m.p, &(struct linked){ 0x0, 0x9000, 0x0, m.lib, 0 });
	return m;
}

static uint32_t at(struct made *m, uint32_t module, uint64_t offset)
{
	return profile_frame(m->p, FRAME_USER, module, offset);
}

static void add(struct made *m, uint32_t frame, uint64_t count, uint32_t kstack)
{
	struct sample s = { .count = count,
			    .weight = 1000 * count,
			    .process = m->thread,
			    .thread = m->thread,
			    .kstack = kstack };

	s.ustack = profile_stack(m->p, &frame, 1, UNWIND_END_ROOT, 0);
	profile_add_sample(m->p, &s);
}

static void writes(const struct made *m, const char *want)
{
	const struct view v = { 0 };
	char *text = NULL;
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	assert_null(bolt_lacks(m->p));
	assert_int_equal(bolt_write(m->p, &v, out), 0);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void samples_by_address(void **state)
{
	struct made m = make();
	uint32_t kernel = profile_frame(m.p, FRAME_KERNEL, 0, 0xffffffff81000000);
	uint32_t kstack = profile_stack(m.p, &kernel, 1, UNWIND_END_ROOT, 0);

	add(&m, at(&m, m.app, 0x5010), 2, 0);
	add(&m, at(&m, m.app, 0x1010), 3, 0);
	add(&m, at(&m, m.app, 0x1010), 4, 0);
	add(&m, at(&m, m.app, 0x1020), 9, kstack); /* it was in the kernel */
	add(&m, at(&m, m.app, 0x4000), 9, 0);	   /* in no part that is linked */
	add(&m, at(&m, m.lib, 0x1010), 8, 0);
	writes(&m, "E cycles:u__precise\nS 401010 7\nS 500010 2\n");
	profile_free(m.p);
}

static void branches_between_files(void **state)
{
	struct made m = make();
	uint32_t loop = at(&m, m.app, 0x1010), end = at(&m, m.app, 0x1030);
	uint32_t other = at(&m, m.lib, 0x20);

	add(&m, at(&m, m.lib, 0x20), 100, 0);
	profile_add_branch(m.p, &(struct branch){ end, loop, 50, 3, 0, 0, 0 });
	profile_add_branch(m.p, &(struct branch){ end, other, 7, 0, 0, 0, 0 });
	profile_add_branch(m.p, &(struct branch){ 0, loop, 2, 1, 0, 0, 0 });
	profile_add_branch(m.p, &(struct branch){ other, other, 9, 0, 0, 0, 0 });
	writes(&m, "B 401030 401010 50 3\nB 401030 X:0 7 0\nB X:0 401010 2 1\n");
	profile_free(m.p);
}

static void what_it_cannot_be_made_of(void **state)
{
	struct made m = make();

	assert_null(bolt_lacks(m.p)); /* empty recordings are no mistake */
	add(&m, at(&m, m.app, 0x4000), 1, 0);
	assert_non_null(strstr(bolt_lacks(m.p), "no sample is in code of a file"));
	m.p->nr_linked = 0;
	assert_non_null(strstr(bolt_lacks(m.p), "linked"));
	m.p->meta.is_time = 1;
	assert_non_null(strstr(bolt_lacks(m.p), "running code"));
	profile_free(m.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_by_address),
		cmocka_unit_test(branches_between_files),
		cmocka_unit_test(what_it_cannot_be_made_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
