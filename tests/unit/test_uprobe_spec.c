/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What people type for a probe, and which file they mean. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "uprobe/spec.h"
#include "uprobe/target.h"

static void assert_text(const char *got, const char *wanted)
{
	if (wanted)
		assert_string_equal(got, wanted);
	else
		assert_null(got);
}

struct row {
	const char *text;
	bool has_process;
	struct uprobe_spec spec;
};

#define T(x) .target = (char *)x
#define F(x) .function = (char *)x
#define P(x) .provider = (char *)x

static const struct row rows[] = {
	{ "libc:malloc", false, { UPROBE_NAME, T("libc"), F("malloc") } },
	{ "libc:malloc+return", true, { UPROBE_NAME, T("libc"), F("malloc"), .is_return = true } },
	{ "/usr/bin/x", false, { UPROBE_ALL, T("/usr/bin/x") } },
	{ "/usr/bin/x", true, { UPROBE_ALL, T("/usr/bin/x") } },
	{ "./x", true, { UPROBE_ALL, T("./x") } },
	{ "c", false, { UPROBE_ALL, T("c") } },
	{ "malloc", true, { UPROBE_NAME, F("malloc") } },
	{ ":malloc", true, { UPROBE_NAME, F("malloc") } },
	{ "std::terminate", true, { UPROBE_NAME, F("std::terminate") } },
	{ "./x:net::Listener::accept(int)",
	  false,
	  { UPROBE_NAME, T("./x"), F("net::Listener::accept(int)") } },
	{ "::operator new", true, { UPROBE_NAME, F("::operator new") } },
	{ "x:main.(*T).Method", false, { UPROBE_GLOB, T("x"), F("main.(*T).Method") } },
	{ "github.com/a/b.Run", true, { UPROBE_NAME, F("github.com/a/b.Run") } },
	{ "x:PyObject_*", false, { UPROBE_GLOB, T("x"), F("PyObject_*") } },
	{ "x:/^a:b$/", false, { UPROBE_REGEX, T("x"), F("^a:b$") } },
	{ "/^SSL_(read|write)$/", true, { UPROBE_REGEX, F("^SSL_(read|write)$") } },
	{ "x:+0x1a40", false, { UPROBE_OFFSET, T("x"), .offset = 0x1a40 } },
	{ "x:f+0x10", false, { UPROBE_NAME, T("x"), F("f"), .offset = 0x10 } },
	{ "x:A::operator+", false, { UPROBE_NAME, T("x"), F("A::operator+") } },
	{ "python3:usdt:python:gc__*",
	  false,
	  { UPROBE_USDT, T("python3"), P("python"), F("gc__*") } },
	{ "usdt:python:line", true, { UPROBE_USDT, P("python"), F("line") } },
};

static void texts_are_taken_apart(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct uprobe_spec *wanted = &rows[i].spec;
		struct uprobe_spec s;
		char *why;

		assert_int_equal(uprobe_spec_parse(&s, rows[i].text, rows[i].has_process, &why), 0);
		assert_null(why);
		assert_int_equal(s.kind, wanted->kind);
		assert_text(s.target, wanted->target);
		assert_text(s.provider, wanted->provider);
		assert_text(s.function, wanted->function);
		assert_int_equal(s.offset, wanted->offset);
		assert_int_equal(s.is_return, wanted->is_return);
		uprobe_spec_release(&s);
	}
}

static const char *const mistakes[][2] = {
	{ "", "libc:malloc" },
	{ "+return", "libc:malloc" },
	{ "libc:", "type libc:FUNCTION" },
	{ "x:+0xzz", "+0x1a40" },
	{ "x:+0x10000000000000000", "+0x1a40" },
	{ "x:+0x10+return", "function's name" },
	{ "x:f+0x10+return", "type f+return" },
	{ "x:f+0x", "f+0x1a" },
	{ "x:usdt:python", "usdt:PROVIDER:NAME" },
	{ "x:usdt:python:", "usdt:PROVIDER:NAME" },
	{ "x:usdt:a:b:c", "usdt:PROVIDER:NAME" },
	{ "x:usdt:a:b+return", "without +return" },
	{ "usdt:a:b", "-p PID" },
	{ ":malloc", "type TARGET:malloc" },
};

static void mistakes_say_what_to_type(void **state)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		struct uprobe_spec s;
		char *why;

		assert_int_equal(uprobe_spec_parse(&s, mistakes[i][0], false, &why), -EINVAL);
		if (!strcasestr(why, mistakes[i][1]))
			fail_msg("'%s': %s", mistakes[i][0], why);
		assert_null(s.target);
		free(why);
	}
}

static void libraries_have_several_names(void **state)
{
	static const char *const same[][2] = {
		{ "libc.so.6", "c" },
		{ "libc.so.6", "libc" },
		{ "libc.so.6", "libc.so" },
		{ "libc.so.6", "libc.so.6" },
		{ "libc-2.31.so", "c" },
		{ "libssl.so.1.1", "ssl" },
		{ "libpython3.11.so.1.0", "python3.11" },
		{ "python3.11", "python3" },
		{ "libstdc++.so.6.0.30", "stdc++" },
	};
	static const char *const others[][2] = {
		{ "libcap.so.2", "c" },	       { "libssl3.so", "ssl" }, { "c.txt", "c" },
		{ "libcrypt.so.1", "crypto" }, { "bash", "ba" },	{ "libc.a", "c" },
		{ "libc.sofa", "c" },
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		assert_true(target_is(same[i][0], same[i][1]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(target_is(others[i][0], others[i][1]));
}

static void mapped_files_are_meant(void **state)
{
	static const char *const meant[][2] = {
		{ "/proc/7/root/opt/lib/libc.so.6", "c" },
		{ "/proc/7/root/opt/app", "app" },
		{ "/proc/7/root/opt/app", "/opt/app" },
		{ "/opt/lib/libssl.so.3", "libssl.so.3" },
	};
	static const char *const others[][2] = {
		{ "/opt/app", "/srv/opt/app" },
		{ "/opt/app", "./app" },
		{ "/opt/lib/libssl.so.3", "crypto" },
		{ "", "app" },
	};

	for (size_t i = 0; i < sizeof(meant) / sizeof(*meant); i++)
		assert_true(target_is_meant(meant[i][0], meant[i][1]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(target_is_meant(others[i][0], others[i][1]));
}

static void system_is_searched(void **state)
{
	char *why, *path = target_find("c", &why);

	assert_non_null(path);
	assert_non_null(strstr(path, "libc.so"));
	assert_int_equal(access(path, R_OK), 0);
	free(path);
	path = target_find("bash", &why);
	assert_non_null(path);
	assert_string_equal(strrchr(path, '/'), "/bash");
	free(path);
	path = target_find("/proc/self/exe", &why);
	assert_string_equal(path, "/proc/self/exe");
	free(path);
	assert_null(target_find("no-such-thing", &why));
	assert_non_null(strstr(why, "./no-such-thing"));
	free(why);
	assert_null(target_find("/no/such", &why));
	assert_non_null(strstr(why, "cannot open /no/such"));
	free(why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_taken_apart),
		cmocka_unit_test(mistakes_say_what_to_type),
		cmocka_unit_test(libraries_have_several_names),
		cmocka_unit_test(mapped_files_are_meant),
		cmocka_unit_test(system_is_searched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
