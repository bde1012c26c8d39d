/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arguments of calls: what people type, registers, and fields of tracepoints. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/call_args.h"

/* As tracefs has it of sched:sched_process_exec, and two fields of other kinds. */
static const char format[] = "name: made_up\nID: 365\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
			     "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
			     "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
			     "\tfield:const char * path;\toffset:32;\tsize:8;\tsigned:0;\n\n"
			     "print fmt: \"filename=%s pid=%d\", __get_str(filename), REC->pid\n";

/* What is said of mistakes belongs to no test's result. */
static int quietly(int (*parse)(struct call_args *, const struct opt_strings *),
		   struct call_args *a, const char **words, size_t nr)
{
	const struct opt_strings list = { words, nr, nr };
	int old = dup(2), null = open("/dev/null", O_WRONLY), err;

	dup2(null, 2);
	close(null);
	err = parse(a, &list);
	fflush(stderr);
	dup2(old, 2);
	close(old);
	return err;
}

static int of_format(struct call_args *a, const struct opt_strings *words)
{
	return call_args_of_tracepoint(a, words, format);
}

static void words_are_numbers_and_types(void **state)
{
	const char *words[] = { "2:str", "1", "ret:int" };
	struct call_args a;

	assert_int_equal(quietly(call_args_of_function, &a, words, 3), 0);
	assert_int_equal(a.nr_args, 3);
	assert_int_equal(a.at_return, 1 << 2);
	assert_true(a.v[0].is_string);
	assert_int_equal(a.v[1].bytes, 8);
	assert_true(a.v[1].is_signed);
	assert_int_equal(a.v[2].bytes, 4);
	assert_int_equal(a.v[1].kind, CALL_ARG_REGISTER);
	assert_int_equal(a.v[1].index, CALL_NO_REGISTER);
}

/* rdi, rsi, rax of struct pt_regs; rax, rbx of Go. x0, x1, x0; and the same of Go. */
static void registers_follow_the_convention(void **state)
{
#if defined(__x86_64__)
	static const uint16_t offsets[] = { 112, 104, 80 }, go[] = { 80, 40, 80 };
#else
	static const uint16_t offsets[] = { 0, 8, 0 }, go[] = { 0, 8, 0 };
#endif
	const char *words[] = { "1", "2", "ret" };
	struct call_args a;

	assert_int_equal(quietly(call_args_of_function, &a, words, 3), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(a.v[i].reg, offsets[i]);
	assert_int_equal(quietly(call_args_of_go, &a, words, 3), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(a.v[i].reg, go[i]);
}

static void mistakes_are_refused(void **state)
{
	static const char *bad[] = {
		"0", "", ":int", "1:", "1:strr", "-1", "1x", "99", "retx", "+1"
	};
	const char *many[] = { "1", "2", "3", "4", "5" },
		   *strings[] = { "1:str", "2:str", "3:str" };
	struct call_args a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(quietly(call_args_of_function, &a, &bad[i], 1), -EINVAL);
	assert_int_equal(quietly(call_args_of_function, &a, many, 5), -EINVAL);
	assert_int_equal(quietly(call_args_of_function, &a, strings, 3), -EINVAL);
}

static void fields_have_their_kinds(void **state)
{
	const char *words[] = { "filename", "pid", "comm:str", "path:str" };
	struct call_args a;

	assert_int_equal(quietly(of_format, &a, words, 2), 0);
	assert_int_equal(a.v[0].kind, CALL_ARG_DYNAMIC);
	assert_int_equal(a.v[0].displacement, 8);
	assert_true(a.v[0].is_string);
	assert_int_equal(a.v[1].kind, CALL_ARG_FIELD);
	assert_int_equal(a.v[1].bytes, 4);
	assert_true(a.v[1].is_signed);
	assert_int_equal(quietly(of_format, &a, words + 2, 2), 0);
	assert_int_equal(a.v[0].kind, CALL_ARG_TEXT);
	assert_int_equal(a.v[0].displacement, 16);
	assert_int_equal(a.v[1].kind, CALL_ARG_FIELD);
	assert_true(a.v[1].is_string);
}

static void other_fields_are_refused(void **state)
{
	static const char *bad[] = { "file", "pid:str", "print", "", "filename:strr", "16" };
	const char *strings[] = { "filename", "comm", "path:str" };
	struct call_args a;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(quietly(of_format, &a, &bad[i], 1), -EINVAL);
	assert_int_equal(quietly(of_format, &a, strings, 3), -EINVAL);
}

static void results_are_known_when_calls_return(void **state)
{
	const char *without[] = { "1", "2:str" }, *with[] = { "1", "ret" };

	assert_false(call_args_want_result(&(struct opt_strings){ without, 2, 2 }));
	assert_true(call_args_want_result(&(struct opt_strings){ with, 2, 2 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_numbers_and_types),
		cmocka_unit_test(registers_follow_the_convention),
		cmocka_unit_test(mistakes_are_refused),
		cmocka_unit_test(fields_have_their_kinds),
		cmocka_unit_test(other_fields_are_refused),
		cmocka_unit_test(results_are_known_when_calls_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
