/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which package has the debug symbols of a file, on machines that we do not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/debug_package.h"
#include "tests/unit/catalogs.h"

#define LIST(package, files) "/var/lib/dpkg/info/" package ".list " files "\n"

static void expect(const char *path, const char *name)
{
	struct debug_package files[] = { { .path = "/usr/bin/none" }, { .path = path } };

	debug_packages_find(root, files, ARRAY_SIZE(files));
	assert_string_equal(files[0].name, "");
	assert_string_equal(files[1].name, name);
}

static void it_is_called_after_the_package(void **state)
{
	enter_files(LIST("zlib1g:amd64", "/.|/usr/lib/libz.so.1.2.13")
			    LIST("coreutils", "/.|/bin/true|/usr/bin/truest")
				    LIST("libx264-164", "/usr/lib/libx264.so.164"));
	expect("/usr/lib/libz.so.1.2.13", "zlib1g-dbgsym");
	expect("/usr/lib/libx264.so.164", "libx264-164-dbgsym");
	/* Where /bin is /usr/bin, and never a part of a line. */
	expect("/usr/bin/true", "coreutils-dbgsym");
	expect("/usr/bin/tru", "");
	expect("/usr/lib/libz.so", "");
}

static void some_are_called_otherwise(void **state)
{
	enter_files(LIST("libc6:amd64", "/lib/libc.so.6") LIST("libc-bin", "/usr/bin/ldd") LIST(
		"python3.11-minimal", "/usr/bin/python3.11") LIST("libpython3.13:arm64",
								  "/usr/lib/libpython3.13.so.1.0")
			    LIST("libpython3.11-stdlib:amd64", "/usr/lib/json.so")
				    LIST("openjdk-17-jre-headless:amd64", "/usr/lib/libjvm.so")
					    LIST("python3-numpy", "/usr/lib/numpy.so")
						    LIST("openjdk-8", "/usr/lib/jdk.so"));
	expect("/usr/lib/libc.so.6", "libc6-dbg");
	expect("/usr/bin/ldd", "libc-bin-dbgsym");
	expect("/usr/bin/python3.11", "python3.11-dbg");
	expect("/usr/lib/libpython3.13.so.1.0", "python3.13-dbg");
	expect("/usr/lib/json.so", "python3.11-dbg");
	expect("/usr/lib/libjvm.so", "openjdk-17-dbg");
	expect("/usr/lib/numpy.so", "python3-numpy-dbgsym");
	expect("/usr/lib/jdk.so", "openjdk-8-dbgsym");
}

static void lists_may_be_anything(void **state)
{
	static char name[300];

	memset(name, 'x', 200);
	strcpy(name + 200, ".list");
	enter_files(LIST("empty", "") LIST("short", "/a|") LIST("last", "|||/usr/lib/z.so"));
	expect("/usr/lib/z.so", "last-dbgsym");
	enter_files("/etc/none x\n");
	expect("/usr/lib/z.so", "");
	/* A name that no package has. */
	leave();
	root = machine_new();
	{
		char path[400];

		snprintf(path, sizeof(path), "/var/lib/dpkg/info/%s", name);
		machine_put(root, path, "/usr/lib/z.so");
	}
	expect("/usr/lib/z.so", "");
}

static void debug_files_are_found_by_build_id(void **state)
{
	const uint8_t id[] = { 0xab, 0x0c, 0xde }, longest[64] = { 1 };

	enter_files("/usr/lib/debug/.build-id/ab/0cde.debug x\n");
	assert_true(debug_file_is_installed(root, id, sizeof(id)));
	assert_false(debug_file_is_installed(root, id, 2));
	assert_false(debug_file_is_installed(root, id, 0));
	assert_false(debug_file_is_installed(root, longest, sizeof(longest)));
}

static void dnf_is_asked_where_there_is_rpm(void **state)
{
	enter_files("/usr/bin/dnf x\n");
	assert_false(debug_package_asks_dnf(root));
	enter_files("/usr/bin/dnf x\n/var/lib/rpm/rpmdb.sqlite x\n");
	assert_true(debug_package_asks_dnf(root));
	enter_files("/usr/bin/zypper x\n/usr/lib/sysimage/rpm/rpmdb.sqlite x\n");
	assert_false(debug_package_asks_dnf(root));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_called_after_the_package),
		cmocka_unit_test(some_are_called_otherwise),
		cmocka_unit_test(lists_may_be_anything),
		cmocka_unit_test(debug_files_are_found_by_build_id),
		cmocka_unit_test(dnf_is_asked_where_there_is_rpm),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
