/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel prints for its addresses, taken apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/ksym.h"

static struct ksym sym;
static char text[256];

static bool parse(const char *from)
{
	strcpy(text, from);
	return ksym_parse(text, &sym);
}

static void built_in_function(void **state)
{
	assert_true(parse("schedule+0x1a/0x120"));
	assert_string_equal(sym.name, "schedule");
	assert_string_equal(sym.module, "[kernel]");
	assert_int_equal(sym.offset, 0x1a);
}

static void function_of_a_module(void **state)
{
	assert_true(parse("nft_do_chain+0x0/0x5a0 [nf_tables]"));
	assert_string_equal(sym.name, "nft_do_chain");
	assert_string_equal(sym.module, "[nf_tables]");
	assert_int_equal(sym.offset, 0);
}

static void bpf_program(void **state)
{
	assert_true(parse("bpf_prog_6deef7357e7b4530_oncpu_sample+0x42/0x9c [bpf]"));
	assert_string_equal(sym.name, "bpf_prog_6deef7357e7b4530_oncpu_sample");
	assert_string_equal(sym.module, "[bpf]");
}

static void rust_and_constprop(void **state)
{
	assert_true(parse("_RNvMs_NtCs3yuwAp0waWO_6kernel5alloc+0x3/0x10"));
	assert_string_equal(sym.name, "_RNvMs_NtCs3yuwAp0waWO_6kernel5alloc");
	assert_true(parse("do_el0_svc.constprop.0+0x48/0xe0"));
	assert_string_equal(sym.name, "do_el0_svc.constprop.0");
}

/* An address would be one of the kernel: it must not look like a name. */
static void unknown_addresses_have_no_name(void **state)
{
	assert_false(parse("0xffffffffc0402000"));
	assert_null(sym.name);
	assert_false(parse("0xffffffffc0402000 [mod]"));
	assert_false(parse("0xffff800008000000+0x1/0x2"));
}

static void damaged_text_is_refused(void **state)
{
	static const char *const damaged[] = { "",	    "+0x1/0x2", "name",		 "name+",
					       "name+0x12", "name+zz/", "name+0x12 0x3", " [m]" };

	for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++)
		assert_false(parse(damaged[i]));
	assert_true(parse("cut_in_the_module+0x1/0x2 [very_long"));
	assert_string_equal(sym.module, "[kernel]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in_function),
		cmocka_unit_test(function_of_a_module),
		cmocka_unit_test(bpf_program),
		cmocka_unit_test(rust_and_constprop),
		cmocka_unit_test(unknown_addresses_have_no_name),
		cmocka_unit_test(damaged_text_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
