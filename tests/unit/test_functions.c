/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of files made here, by all the ways to name them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/made_elf.h"
#include "uprobe/functions.h"

static struct made_elf image;
static struct functions *fs;

static int begin(void **state)
{
	made_init(&image, EM_X86_64);
	made_symbol(&image, "plain@@V_1.0", 0x10, 0x10, STB_GLOBAL, STT_FUNC);
	made_symbol(&image, "_plain_alias", 0x10, 0x10, STB_LOCAL, STT_FUNC);
	made_symbol(&image, "unsized", 0x40, 0, STB_GLOBAL, STT_FUNC);
	made_symbol(&image, "label", 0x48, 0, STB_LOCAL, STT_NOTYPE);
	made_symbol(&image, "_ZN3net8Listener6acceptEi", 0x60, 0x20, STB_GLOBAL, STT_FUNC);
	made_symbol(&image, "_ZN3net8Listener6acceptEPKc", 0x80, 0x20, STB_GLOBAL, STT_FUNC);
	made_symbol(&image, "_ZN4core3fmt5write17h0123456789abcdefE", 0xa0, 0x20, STB_LOCAL,
		    STT_FUNC);
	made_symbol(&image, "main.(*T).Method", 0xc0, 0x20, STB_LOCAL, STT_FUNC);
	made_symbol(&image, "memcpy", 0x100, 0x20, STB_GLOBAL, STT_GNU_IFUNC);
	made_symbol(&image, "__memcpy_avx_unaligned", 0x120, 0x20, STB_LOCAL, STT_FUNC);
	made_symbol(&image, "__memcpy_chk", 0x140, 0x20, STB_GLOBAL, STT_FUNC);
	made_symbol(&image, "plain.cold", 0x160, 0x20, STB_LOCAL, STT_FUNC);
	made_symbol(&image, "_Z3fooIiET_S0_", 0x180, 0x20, STB_LOCAL, STT_FUNC);
	made_symbol(&image, "_ZN1n3BoxIiE3getEi", 0x1a0, 0x20, STB_LOCAL, STT_FUNC);
	made_symbol(&image, "_ZltRK1SS1_", 0x1c0, 0x20, STB_LOCAL, STT_FUNC);
	made_symbol(&image, "assembly", 0x200, 0, STB_GLOBAL, STT_NOTYPE);
	made_symbol(&image, "last", CODE_SIZE - 8, 0, STB_GLOBAL, STT_FUNC);
	fs = functions_open_image(image.bytes, sizeof(image.bytes));
	return !fs;
}

static int end(void **state)
{
	functions_free(fs);
	return 0;
}

static const struct uprobe_function *at(uint64_t offset)
{
	return functions_at(fs, CODE_VADDR + offset);
}

static void functions_have_their_extents(void **state)
{
	assert_string_equal(at(0x10)->name, "plain");
	assert_ptr_equal(at(0x1f), at(0x10));
	assert_null(at(0x20));
	assert_null(at(0));
	assert_int_equal(at(0x10)->offset, CODE_OFFSET + 0x10);
	assert_int_equal(at(0x40)->size, 0x20);
	assert_int_equal(at(CODE_SIZE - 1)->size, 8);
	assert_null(at(CODE_SIZE));
	assert_int_equal(at(0x200)->size, CODE_SIZE - 8 - 0x200);
}

static void aliases_are_one_function(void **state)
{
	const struct uprobe_function *all;
	size_t nr;

	assert_int_equal(at(0x10)->nr_names, 2);
	all = functions_all(fs, &nr);
	assert_int_equal(nr, 15);
	for (size_t i = 1; i < nr; i++)
		assert_true(all[i - 1].address < all[i].address);
}

static void labels_are_known(void **state)
{
	assert_true(functions_have_label(fs, CODE_VADDR + 0x47, CODE_VADDR + 0x48));
	assert_false(functions_have_label(fs, CODE_VADDR + 0x48, CODE_VADDR + 0x4f));
	assert_false(functions_have_label(fs, CODE_VADDR + CODE_SIZE - 8, UINT64_MAX));
}

/* The offsets of what is found, with blanks between. */
static void check_kind(enum uprobe_kind kind, const char *text, const char *wanted)
{
	struct uprobe_spec spec = { .kind = kind, .function = (char *)text };
	struct uprobe_function *found;
	char got[256] = "", *why;
	size_t nr;

	assert_int_equal(functions_find(fs, &spec, &found, &nr, &why), 0);
	for (size_t i = 0; i < nr; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%lx", i ? " " : "",
			 found[i].address - CODE_VADDR);
	assert_string_equal(got, wanted);
	free(found);
}

static void names_are_found(void **state)
{
	check_kind(UPROBE_NAME, "plain", "10");
	check_kind(UPROBE_NAME, "_plain_alias", "10");
	check_kind(UPROBE_NAME, "plai", "");
	check_kind(UPROBE_NAME, "_ZN3net8Listener6acceptEi", "60");
	check_kind(UPROBE_NAME, "net::Listener::accept", "60 80");
	check_kind(UPROBE_NAME, "net::Listener::accept(int)", "60");
	check_kind(UPROBE_NAME, "net::Listener::accept(char const*)", "80");
	check_kind(UPROBE_NAME, "net::Listener::accept( char const * )", "80");
	check_kind(UPROBE_NAME, "net::Listener::accept(long)", "");
	check_kind(UPROBE_NAME, "core::fmt::write", "a0");
	check_kind(UPROBE_NAME, "plain.cold", "160");
}

static void templates_are_found_by_bare_names(void **state)
{
	check_kind(UPROBE_NAME, "foo", "180");
	check_kind(UPROBE_NAME, "foo<int>", "180");
	check_kind(UPROBE_NAME, "foo<long>", "");
	check_kind(UPROBE_NAME, "foo<", "");
	check_kind(UPROBE_NAME, "fooo", "");
	check_kind(UPROBE_NAME, "n::Box::get", "1a0");
	check_kind(UPROBE_NAME, "n::Box", "");
	check_kind(UPROBE_NAME, "operator<", "1c0");
	check_kind(UPROBE_NAME, "operator", "");
}

static void patterns_are_found(void **state)
{
	check_kind(UPROBE_GLOB, "main.(*T).Method", "c0");
	check_kind(UPROBE_GLOB, "*plain*", "10");
	check_kind(UPROBE_GLOB, "net::*", "60 80");
	check_kind(UPROBE_GLOB, "la[s]t", "ff8");
	check_kind(UPROBE_REGEX, "^(un|as)", "40 200");
	check_kind(UPROBE_REGEX, "accept$", "60 80");
	check_kind(UPROBE_ALL, NULL, "10 40 60 80 a0 c0 100 120 140 180 1a0 1c0 200 ff8");
}

static void the_name_that_matched_is_told(void **state)
{
	struct uprobe_spec spec = { .kind = UPROBE_NAME, .function = "_plain_alias" };
	struct uprobe_function *found;
	size_t nr;
	char *why;

	assert_int_equal(functions_find(fs, &spec, &found, &nr, &why), 0);
	assert_string_equal(found->name, "_plain_alias");
	free(found);
	assert_string_equal(functions_shown(fs, at(0x60)), "net::Listener::accept");
	assert_string_equal(functions_shown(fs, at(0x40)), "unsized");
}

static void addresses_are_found(void **state)
{
	struct uprobe_spec spec = { .kind = UPROBE_OFFSET, .offset = CODE_VADDR + 0x65 };
	struct uprobe_function *found;
	size_t nr;
	char *why;

	assert_int_equal(functions_find(fs, &spec, &found, &nr, &why), 0);
	assert_int_equal(nr, 1);
	assert_int_equal(found->address, CODE_VADDR + 0x60);
	free(found);
	/* Where no symbol is, and no unwind table either. */
	spec.offset = CODE_VADDR + 0x20;
	assert_int_equal(functions_find(fs, &spec, &found, &nr, &why), 0);
	assert_int_equal(nr, 1);
	assert_true(found->begins_anywhere);
	assert_int_equal(found->nr_names, 0);
	assert_int_equal(found->offset, CODE_OFFSET + 0x20);
	free(found);
	spec.offset = CODE_VADDR + 0x100000;
	assert_int_equal(functions_find(fs, &spec, &found, &nr, &why), 0);
	assert_int_equal(nr, 0);
	free(found);
	assert_false(functions_are_stripped(fs));
}

static void bad_expressions_are_told(void **state)
{
	struct uprobe_spec spec = { .kind = UPROBE_REGEX, .function = "a(" };
	struct uprobe_function *found;
	size_t nr;
	char *why;

	assert_int_equal(functions_find(fs, &spec, &found, &nr, &why), -EINVAL);
	assert_non_null(strstr(why, "'/a(/'"));
	free(why);
}

static void near_names_are_suggested(void **state)
{
	assert_string_equal(functions_near(fs, "unsizde"), "unsized");
	assert_string_equal(functions_near(fs, "net::Listener::acept"), "net::Listener::accept");
	assert_null(functions_near(fs, "nothing_like_it"));
}

static void ifuncs_have_implementations(void **state)
{
	struct uprobe_function *found;
	size_t nr;

	assert_true(at(0x100)->is_ifunc);
	assert_false(at(0x120)->is_ifunc);
	functions_implementations(fs, at(0x100), &found, &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(found->name, "__memcpy_avx_unaligned");
	free(found);
}

static void go_is_recognised(void **state)
{
	struct functions *go;

	assert_false(functions_are_go(fs));
	strcpy((char *)image.bytes + MADE_NAMES + 32 * BASE, ".go.buildinfo");
	go = functions_open_image(image.bytes, sizeof(image.bytes));
	assert_true(functions_are_go(go));
	functions_free(go);
}

static void what_is_no_file_is_refused(void **state)
{
	assert_null(functions_open("/"));
	assert_int_equal(errno, ENOEXEC);
	assert_null(functions_open("/no/such"));
	assert_int_equal(errno, ENOENT);
	assert_null(functions_open_image("no ELF", 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_their_extents),
		cmocka_unit_test(aliases_are_one_function),
		cmocka_unit_test(labels_are_known),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(templates_are_found_by_bare_names),
		cmocka_unit_test(patterns_are_found),
		cmocka_unit_test(the_name_that_matched_is_told),
		cmocka_unit_test(addresses_are_found),
		cmocka_unit_test(bad_expressions_are_told),
		cmocka_unit_test(near_names_are_suggested),
		cmocka_unit_test(ifuncs_have_implementations),
		cmocka_unit_test(go_is_recognised),
		cmocka_unit_test(what_is_no_file_is_refused),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
