/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kinds of disagreements of the audit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "output/output.h"
#include "profile/audit.h"
#include "profile/save.h"

static uint32_t frame(struct profile *p, enum frame_kind kind, const char *name, uint64_t offset)
{
	uint32_t id = profile_frame(p, kind, 0, offset);

	profile_name_frame(p, id, profile_string(p, name), 0);
	return id;
}

/* Frames by their names, one letter each; '*' and '+' are places in generated code, an upper case
 * letter is another place of the function. */
static uint32_t stack(struct profile *p, const char *names)
{
	uint32_t ids[16], nr = 0;

	for (; *names; names++) {
		char lower[2] = { *names | 0x20, 0 };

		ids[nr++] = *names == '*' || *names == '+' ? frame(p, FRAME_ANON, "[jit]", *names)
							   : frame(p, FRAME_USER, lower, *names);
	}
	return profile_stack(p, ids, nr, UNWIND_END_CFI_ROOT, 0);
}

static void disagree(struct profile *p, uint32_t half, const char *remembered, const char *walked,
		     uint64_t times)
{
	struct disagreement d = { .times = times, .pid = 7, .tid = 8, .half = half };

	d.thread = d.process = profile_string(p, "it\x1b");
	d.remembered = stack(p, remembered);
	d.walked = stack(p, walked);
	profile_add_disagreement(p, &d);
}

static struct profile *example(void)
{
	struct profile *p = profile_new();

	disagree(p, PROF_STACK_KERNEL, "abc", "axc", 1);
	disagree(p, PROF_STACK_USER, "abc", "ab", 2);
	disagree(p, PROF_STACK_USER, "abc", "adc", 3);
	disagree(p, PROF_STACK_USER, "abc", "aBc", 4);
	disagree(p, PROF_STACK_USER, "a*c", "abc", 5);
	disagree(p, PROF_STACK_USER, "abcd", "axcd", 6);
	disagree(p, PROF_STACK_USER, "abc", "abc", 7);
	disagree(p, PROF_STACK_USER, "a*c", "a+c", 8);
	return p;
}

static void check_row(const struct audit_row *row, uint32_t half, enum audit_kind kind,
		      uint64_t times, uint64_t first)
{
	assert_int_equal(row->first->half, half);
	assert_int_equal(row->kind, kind);
	assert_int_equal(row->times, times);
	assert_int_equal(row->first->times, first);
}

static void check_rows(const struct profile *p)
{
	struct audit_row rows[AUDIT_MAX_ROWS];

	assert_int_equal(audit_rows(p, rows), 5);
	check_row(&rows[0], PROF_STACK_USER, AUDIT_FUNCTIONS, 9, 3);
	check_row(&rows[1], PROF_STACK_USER, AUDIT_DEPTH, 2, 2);
	check_row(&rows[2], PROF_STACK_USER, AUDIT_PLACES, 19, 4);
	check_row(&rows[3], PROF_STACK_USER, AUDIT_GENERATED, 5, 5);
	check_row(&rows[4], PROF_STACK_KERNEL, AUDIT_FUNCTIONS, 1, 1);
}

static void each_kind_has_its_first_example(void **state)
{
	struct profile *p = example();

	(void)state;
	check_rows(p);
	profile_free(p);
}

static void they_are_saved(void **state)
{
	struct profile *p = example(), *loaded;
	char path[] = "/tmp/test-audit-XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");

	(void)state;
	profile_save(p, f);
	fclose(f);
	loaded = profile_load(path);
	assert_non_null(loaded);
	check_rows(loaded);
	profile_free(loaded);
	p->disagreements[2].walked = p->nr_stacks;
	f = fopen(path, "w");
	profile_save(p, f);
	fclose(f);
	assert_null(profile_load(path));
	unlink(path);
	profile_free(p);
}

static void they_are_shown_side_by_side(void **state)
{
	struct profile *p = example();
	struct view v = {};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	audited_put(p, &v, f);
	assert_int_equal(fflush(f), 0);
	assert_non_null(strstr(text, "process 7\n     BPFPROF    ")); /* of samples */
	p->meta.is_time = true;
	rewind(f);
	audited_put(p, &v, f);
	fclose(f);
	assert_non_null(strstr(text, "user half, other functions: 9; first thread it? (8) of "
				     "process 7\n     REMEMBERED"));
	assert_non_null(strstr(text, "\n  !  b                                      d\n"));
	assert_non_null(strstr(text, "kernel half, other functions: 1;"));
	free(text);
	profile_free(p);
}

/* Who takes the stack, called from a place in bpf_trace_run4(), and what the thread does. */
static uint32_t kernel_stack(struct profile *p, uint64_t place, const char *waits_in)
{
	uint32_t ids[] = { frame(p, FRAME_KERNEL, "bpf_prog_1_sched_switch", 1),
			   frame(p, FRAME_KERNEL, "bpf_trace_run4", place),
			   frame(p, FRAME_KERNEL, "__schedule", 3),
			   frame(p, FRAME_KERNEL, waits_in, waits_in[0]) };

	return profile_stack(p, ids, sizeof(ids) / sizeof(ids[0]), UNWIND_END_NONE, 0);
}

static void who_takes_stacks_is_no_disagreement(void **state)
{
	struct profile *p = profile_new();
	struct disagreement d = { .times = 7, .half = PROF_STACK_KERNEL };

	(void)state;
	d.remembered = kernel_stack(p, 1000, "do_nanosleep");
	d.walked = kernel_stack(p, 2000, "do_nanosleep");
	profile_add_disagreement(p, &d);
	d.times = 2;
	d.walked = kernel_stack(p, 2000, "futex_wait");
	profile_add_disagreement(p, &d);
	p->counters[PROF_AUDIT_WRONG] = 9;
	audit_settle(p);
	assert_int_equal(p->counters[PROF_AUDIT_WRONG], 2);
	assert_int_equal(p->nr_disagreements, 1);
	assert_int_equal(p->disagreements[0].times, 2);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_first_example),
		cmocka_unit_test(they_are_saved),
		cmocka_unit_test(they_are_shown_side_by_side),
		cmocka_unit_test(who_takes_stacks_is_no_disagreement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
