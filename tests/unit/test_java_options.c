/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which JVMs must not be sent SIGQUIT: by their command line and their environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proc/java_options.h"

#define ON  "-XX:+DisableAttachMechanism"
#define OFF "-XX:-DisableAttachMechanism"

/* Strings that hold a NUL behind each part. */
#define FORBIDS(environ, cmdline)                                                                  \
	java_options_forbid_attach(environ, sizeof(environ) - 1, cmdline, sizeof(cmdline) - 1)

static void the_last_one_counts(void **state)
{
	assert_false(FORBIDS("", ""));
	assert_false(FORBIDS("HOME=/root\0", "java\0-jar\0x.jar\0"));
	assert_true(FORBIDS("", "java\0" ON "\0-jar\0x.jar\0"));
	assert_true(FORBIDS("", "java\0" OFF "\0" ON "\0Main\0"));
	assert_false(FORBIDS("", "java\0" ON "\0" OFF "\0Main\0"));
	assert_true(FORBIDS("A=b\0JAVA_TOOL_OPTIONS=-Dx=y " ON "\0", "java\0Main\0"));
	assert_true(FORBIDS("JDK_JAVA_OPTIONS='" ON "'\0", "java\0Main\0"));
	assert_false(FORBIDS("JDK_JAVA_OPTIONS=" ON "\0", "java\0" OFF "\0Main\0"));
	assert_true(FORBIDS("_JAVA_OPTIONS=" ON "\0", "java\0" OFF "\0Main\0"));
	assert_false(FORBIDS("MY_JAVA_TOOL_OPTIONS=" ON "\0", "java\0Main\0"));
	assert_false(FORBIDS("JAVA_TOOL_OPTIONS=" ON "x\0", "java\0Main\0"));
}

static void arguments_of_the_program_are_its_own(void **state)
{
	assert_false(FORBIDS("", "java\0Main\0" ON "\0"));
	assert_false(FORBIDS("", "java\0-jar\0x.jar\0" ON "\0"));
	assert_true(FORBIDS("", "java\0-cp\0a:b\0" ON "\0Main\0"));
	assert_true(FORBIDS("", "java\0@options\0" ON "\0Main\0"));
	assert_false(FORBIDS("", "java\0-cp\0" ON "\0Main\0"));
}

/* The kernel hands out a part, or who runs wrote over it. */
static void what_is_cut_is_no_option(void **state)
{
	assert_false(FORBIDS("JAVA_TOOL_OPTIONS=", "java"));
	assert_false(FORBIDS("JAVA_TOOL_OPTIONS", "java\0-XX:+DisableAttachMechanis"));
	assert_false(FORBIDS("\0\0\0", "\0\0\0"));
	assert_true(FORBIDS("JAVA_TOOL_OPTIONS=" ON, "java"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_one_counts),
		cmocka_unit_test(arguments_of_the_program_are_its_own),
		cmocka_unit_test(what_is_cut_is_no_option),
	};

	return cmocka_run_group_tests_name("java_options", tests, NULL, NULL);
}
