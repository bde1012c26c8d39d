/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes by a /proc made up in a folder: names, parents, and who descends from whom. */
#include "proc/running.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static const struct made {
	const char *pid, *stat;
	const char *exe;
} made[] = {
	{ "1", "1 (systemd) S 0 1 1 0", "/usr/lib/systemd/systemd" },
	{ "2", "2 (kthreadd) S 0 0 0 0", NULL },
	{ "40", "40 (kworker/0:1) I 2 0 0 0", NULL },
	{ "300", "300 (nginx) S 1 1 1 0", "/usr/sbin/nginx" },
	{ "17", "17 (worker) S 300 1 1 0", "/usr/sbin/nginx (deleted)" },
	{ "301", "301 (a) b (c) S 17 1 1 0", "/opt/my-server" },
	{ "302", "302 (sh) S 999 1 1 0", "/usr/bin/dash" },
	{ "303", "303 (truncated", "x" },
	{ "304", "304 (job) S 1 1 1 0", "/usr/bin/python3.11" },
};

static void write_file(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	free(path);
}

static void link_to(const char *exe, const char *dir)
{
	char *path = xasprintf("%s/exe", dir);

	assert_int_equal(symlink(exe, path), 0);
	free(path);
}

static char *make_root(void)
{
	char *root = xstrdup("/tmp/bpfprof-running-XXXXXX"), *dir;

	assert_non_null(mkdtemp(root));
	dir = xasprintf("%s/proc", root);
	assert_int_equal(mkdir(dir, 0700), 0);
	free(dir);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		dir = xasprintf("%s/proc/%s", root, made[i].pid);
		assert_int_equal(mkdir(dir, 0700), 0);
		write_file(dir, "stat", made[i].stat);
		if (made[i].exe)
			link_to(made[i].exe, dir);
		free(dir);
	}
	return root;
}

static void drop_root(char *root)
{
	char *command = xasprintf("rm -r %s", root);

	assert_int_equal(system(command), 0);
	free(command);
	free(root);
}

static void names_and_parents(void **state)
{
	char *root = make_root();
	const struct running_process *p;
	struct running r;

	running_read(&r, root);
	assert_int_equal(r.nr, 8);
	assert_null(running_find(&r, 303));
	assert_null(running_find(&r, 5));

	p = running_find(&r, 300);
	assert_non_null(p);
	assert_int_equal(p->parent, 1);
	assert_true(running_is_named(p, "nginx"));
	assert_false(running_is_named(p, "y"));
	assert_false(running_is_named(p, ""));
	assert_false(p->is_kernel);

	p = running_find(&r, 301);
	assert_string_equal(p->name, "a) b (c");
	assert_int_equal(p->parent, 17);
	assert_true(running_is_named(p, "my-server"));
	assert_false(running_is_named(p, "my"));
	assert_true(running_is_named(running_find(&r, 17), "nginx"));

	p = running_find(&r, 304);
	assert_true(running_is_named(p, "job"));
	assert_true(running_is_named(p, "python3.11"));
	assert_true(running_is_named(p, "python3"));
	assert_true(running_is_named(p, "python"));
	assert_false(running_is_named(p, "python3.1x"));
	assert_false(running_is_named(p, "pyth"));

	assert_true(running_find(&r, 40)->is_kernel);
	assert_true(running_find(&r, 2)->is_kernel);
	running_release(&r);
	drop_root(root);
}

/* A child may have the lower number: 300 has started 17, and that one 301. */
static void descendants(void **state)
{
	char *root = make_root();
	struct opt_ids pids = {};
	struct running r;

	running_read(&r, root);
	opt_ids_add(&pids, 300);
	assert_int_equal(running_add_descendants(&r, &pids), 2);
	assert_int_equal(pids.nr, 3);
	assert_true(opt_ids_has(&pids, 17));
	assert_true(opt_ids_has(&pids, 301));
	assert_false(opt_ids_has(&pids, 302));
	assert_int_equal(running_add_descendants(&r, &pids), 0);
	opt_ids_release(&pids);
	running_release(&r);
	drop_root(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_and_parents),
		cmocka_unit_test(descendants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
