/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits of made-up hosts, of both versions of cgroups. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event/memory.h"

#define MB 1048576ull

static char root[] = "/tmp/bpfprof-limits.XXXXXX";

static void put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int begin(void **state)
{
	(void)state;
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[PATH_MAX];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void the_least_of_version_2_counts(void **state)
{
	struct memory_limit m;

	(void)state;
	put("proc/self/mounts", "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
	put("proc/self/cgroup", "0::/a.slice/b.scope\n");
	put("sys/fs/cgroup/a.slice/memory.max", "104857600\n");
	put("sys/fs/cgroup/a.slice/memory.current", "94371840\n");
	put("sys/fs/cgroup/a.slice/memory.stat",
	    "anon 1\ninactive_file 10485760\nactive_file 10485760\n");
	put("sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n");
	put("sys/fs/cgroup/a.slice/b.scope/memory.current", "4096\n");
	assert_true(memory_limit_read(root, &m));
	assert_int_equal(m.limit_bytes, 100 * MB);
	assert_int_equal(m.free_bytes, 30 * MB);
	assert_string_equal(m.cgroup, "/a.slice");
	put("sys/fs/cgroup/a.slice/b.scope/memory.max", "20971520\n");
	assert_true(memory_limit_read(root, &m));
	assert_int_equal(m.free_bytes, 20 * MB - 4096);
	assert_string_equal(m.cgroup, "/a.slice/b.scope");
}

static void version_1_beside_version_2(void **state)
{
	struct memory_limit m;

	(void)state;
	put("proc/self/mounts",
	    "cgroup /cg/cpu cgroup rw,cpu 0 0\ncgroup /cg/m cgroup rw,memory 0 0\n"
	    "cgroup2 /cg/unified cgroup2 rw 0 0\n");
	put("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/y\n0::/\n");
	put("cg/m/memory.limit_in_bytes", "9223372036854771712\n");
	put("cg/m/y/memory.limit_in_bytes", "67108864\n");
	put("cg/m/y/memory.usage_in_bytes", "1048576\n");
	put("cg/m/y/memory.stat", "inactive_file 5\ntotal_inactive_file 524288\n");
	assert_true(memory_limit_read(root, &m));
	assert_int_equal(m.limit_bytes, 64 * MB);
	assert_int_equal(m.free_bytes, 64 * MB - MB / 2);
	assert_string_equal(m.cgroup, "/y");
}

static void nothing_limits(void **state)
{
	struct memory_limit m;

	(void)state;
	assert_false(memory_limit_read(root, &m)); /* no cgroups at all */
	put("proc/self/mounts", "cgroup /cg/m cgroup rw,memory 0 0\n");
	put("proc/self/cgroup", "4:memory_x:/y\n");
	put("cg/m/y/memory.limit_in_bytes", "4096\n");
	assert_false(memory_limit_read(root, &m)); /* of another controller */
	put("proc/self/cgroup", "4:memory:/of/the/host\n");
	put("cg/m/memory.limit_in_bytes", "9223372036854771712\n");
	assert_false(memory_limit_read(root, &m));
	/* A container that sees its own mount, but the host's path. */
	put("cg/m/memory.limit_in_bytes", "8388608\n");
	assert_true(memory_limit_read(root, &m));
	assert_int_equal(m.free_bytes, 8 * MB);
	assert_string_equal(m.cgroup, "/");
}

static void what_can_be_had_is_of_the_host_or_of_its_cgroup(void **state)
{
	(void)state;
	assert_int_equal(memory_available(root), 0);
	put("proc/meminfo", "MemTotal: 9000 kB\nMemFree:  512 kB\nMemAvailable:    4096 kB\n");
	assert_int_equal(memory_available(root), 4 * MB);
	put("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
	put("proc/self/cgroup", "0::/a\n");
	put("sys/fs/cgroup/a/memory.max", "8388608\n");
	assert_int_equal(memory_available(root), 4 * MB);
	put("sys/fs/cgroup/a/memory.max", "2097152\n");
	assert_int_equal(memory_available(root), 2 * MB);
}

/* What a child has that has filled so much, and whether it is a copy of us or another program. */
static uint64_t with_child(bool is_copy)
{
	char *const argv[] = { "awk",
			       "BEGIN { while (length(s) < 33554432) s = s \"12345678\" s;"
			       " print; fflush(); system(\"exec cat >/dev/null\") }",
			       NULL };
	int said[2], ends[2];
	uint64_t bytes;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(said) | pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(ends[0], STDIN_FILENO);
		dup2(said[1], STDOUT_FILENO);
		close(ends[1]);
		if (!is_copy)
			execvp(argv[0], argv);
		else if (memset(malloc(32 * MB), 1, 32 * MB) && write(said[1], "", 1) == 1)
			_exit(read(ends[0], &byte, 1) < 0);
		_exit(1);
	}
	close(said[1]);
	assert_int_equal(read(said[0], &byte, 1), 1);
	bytes = memory_own_bytes();
	close(ends[1]);
	close(ends[0]);
	close(said[0]);
	waitpid(pid, NULL, 0);
	return bytes;
}

static void copies_are_ours_and_programs_are_not(void **state)
{
	uint64_t alone = memory_own_bytes();

	(void)state;
	assert_true(alone > 0);
	assert_true(with_child(true) > alone + 30 * MB);
	assert_true(with_child(false) < alone + 30 * MB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_least_of_version_2_counts, begin, end),
		cmocka_unit_test_setup_teardown(version_1_beside_version_2, begin, end),
		cmocka_unit_test_setup_teardown(nothing_limits, begin, end),
		cmocka_unit_test_setup_teardown(what_can_be_had_is_of_the_host_or_of_its_cgroup,
						begin, end),
		cmocka_unit_test(copies_are_ours_and_programs_are_not),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("memory_limit", tests, NULL, NULL);
}
