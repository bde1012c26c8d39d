/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings about code without names: kept once, found by their key, fit to be printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/lacks.h"

static void detail_is(const struct profile *p, enum lack what, const char *key, const char *text)
{
	char *detail = lacks_detail(p, what, key);

	if (text)
		assert_string_equal(detail, text);
	else
		assert_null(detail);
	free(detail);
}

static void what_was_found_is_kept_once(void **state)
{
	struct profile *p = profile_new();
	struct lacks l = {};
	uint32_t before;
	char *first;

	lacks_add(&l, LACK_LINKED, "/srv/a b", "x.debug");
	lacks_add(&l, LACK_BUILD_ID, "/srv/a b", NULL);
	lacks_add(&l, LACK_BUILD_ID, "/srv/c", NULL);
	lacks_add(&l, LACK_BUILD_ID, "/srv/c", NULL);
	lacks_move(&l, p);
	assert_int_equal(lacks_count(p, LACK_BUILD_ID), 2);
	before = p->meta.lacks;
	lacks_add(&l, LACK_BUILD_ID, "/srv/c", NULL);
	lacks_move(&l, p);
	assert_int_equal(p->meta.lacks, before);
	lacks_add(&l, LACK_SERVER, "/srv/c", NULL);
	lacks_move(&l, p);
	assert_int_equal(lacks_count(p, LACK_SERVER), 1);
	detail_is(p, LACK_LINKED, "/srv/a b", "x.debug");
	detail_is(p, LACK_LINKED, "/srv/a", NULL);
	assert_true(lacks_has(p, LACK_SERVER, "/srv/c"));
	assert_false(lacks_has(p, LACK_SERVER, "/srv/a b"));
	first = lacks_first(p, LACK_LINKED);
	assert_string_equal(first, "x.debug");
	free(first);
	assert_null(lacks_first(p, LACK_JAVA));
	/* One that says nothing adds nothing. */
	lacks_move(&l, p);
	assert_int_equal(lacks_count(p, LACK_BUILD_ID), 2);
	profile_free(p);
}

/* Names of files and of links are a stranger's. */
static void a_stranger_adds_no_line(void **state)
{
	struct profile *p = profile_new();
	struct lacks l = {};

	lacks_add(&l, LACK_LINKED, "/srv/a", "x\nno-server\t/srv/b\t");
	lacks_add(&l, LACK_ELF, "/srv/a\nno-server\t/srv/b\t", NULL);
	lacks_add(&l, LACK_ELF, "/srv/a\t", NULL);
	lacks_move(&l, p);
	assert_int_equal(lacks_count(p, LACK_SERVER), 0);
	assert_int_equal(lacks_count(p, LACK_ELF), 2);
	detail_is(p, LACK_ELF, "/srv/a", NULL);
	detail_is(p, LACK_ELF, "/srv/a\t", "");
	detail_is(p, LACK_LINKED, "/srv/a", "x?no-server?/srv/b?");
	/* So is a recording. */
	p->meta.lacks =
		profile_string(p, "no-linked\t/srv/a\t\033[2Jx\nno-server\njava\t/\nno-elf\t/");
	detail_is(p, LACK_LINKED, "/srv/a", "?[2Jx");
	detail_is(p, LACK_ELF, "/", NULL);
	assert_int_equal(lacks_count(p, LACK_SERVER), 0);
	profile_free(p);
}

static void what_was_told_is_not_told_again(void **state)
{
	static const char first[] = "no-elf\t/srv/a\t\n",
			  both[] = "no-elf\t/srv/b\t\nno-elf\t/srv/a\t\n";
	struct profile *p = profile_new(), *all = profile_new();
	struct lacks told = {};

	(void)state;
	lacks_tell(&told, first, p);
	assert_string_equal(profile_str(p, p->meta.lacks), first);
	lacks_join(all, profile_str(p, p->meta.lacks));
	lacks_tell(&told, both, p);
	assert_string_equal(profile_str(p, p->meta.lacks), "no-elf\t/srv/b\t\n");
	lacks_join(all, profile_str(p, p->meta.lacks));
	lacks_tell(&told, both, p);
	assert_int_equal(p->meta.lacks, 0);
	lacks_join(all, "");
	lacks_join(all, both);
	lacks_join(all, "no-elf\t/srv/c"); /* no whole line */
	assert_int_equal(lacks_count(all, LACK_ELF), 2);
	lacks_release(&told);
	profile_free(p);
	profile_free(all);
}

static void there_is_a_bound(void **state)
{
	struct profile *p = profile_new();
	struct lacks l = {};
	char path[64];

	for (int i = 0; i < 200000; i++) {
		snprintf(path, sizeof(path), "/srv/%d", i);
		lacks_add(&l, LACK_SERVER_FILE, path, NULL);
	}
	assert_true(l.sz < 1 << 20);
	lacks_release(&l);
	profile_free(p);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_found_is_kept_once),
		cmocka_unit_test(a_stranger_adds_no_line),
		cmocka_unit_test(what_was_told_is_not_told_again),
		cmocka_unit_test(there_is_a_bound),
	};

	return cmocka_run_group_tests_name("lacks", tests, NULL, NULL);
}
