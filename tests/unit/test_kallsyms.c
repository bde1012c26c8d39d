/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's symbols: which lines count, what an address is called, what loading costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/kallsyms.h"

static char path[] = "/tmp/bpfprof-kallsyms.XXXXXX";

static struct kallsyms *load(const char *text)
{
	FILE *f = fopen(path, "w");
	struct kallsyms *k;

	fputs(text, f);
	fclose(f);
	k = kallsyms_load(path);
	assert_non_null(k);
	return k;
}

/* "name+0xoffset module" of an address, "none". */
static const char *at(const struct kallsyms *k, uint64_t addr)
{
	static char text[256];
	struct kallsym sym;

	if (!kallsyms_find(k, addr, &sym))
		return "none";
	snprintf(text, sizeof(text), "%s+0x%lx %s", sym.name, sym.offset, sym.module);
	return text;
}

static void addresses_lie_in_the_symbol_before(void **state)
{
	struct kallsyms *k = load("ffffffff81002000 t second\n"
				  "ffffffff81000000 T first\n"
				  "ffffffffc0001000 t nft_do_chain\t[nf_tables]\n"
				  "FFFFFFFFC0002000 t nft_lookup\t[nf_tables]\n"
				  "ffffffffc0009000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
				  "ffffffff81003000 W weak_one");

	assert_int_equal(kallsyms_count(k), 6);
	assert_string_equal(at(k, 0xffffffff81000000), "first+0x0 [kernel]");
	assert_string_equal(at(k, 0xffffffff81001fff), "first+0x1fff [kernel]");
	assert_string_equal(at(k, 0xffffffff81002001), "second+0x1 [kernel]");
	assert_string_equal(at(k, 0xffffffff81003004), "weak_one+0x4 [kernel]");
	assert_string_equal(at(k, 0xffffffffc0001010), "nft_do_chain+0x10 [nf_tables]");
	assert_string_equal(at(k, 0xffffffffc0002010), "nft_lookup+0x10 [nf_tables]");
	assert_string_equal(at(k, 0xffffffffc0009001), "bpf_prog_6deef7357e7b4530+0x1 [bpf]");
	kallsyms_free(k);
}

static void far_addresses_have_no_name(void **state)
{
	struct kallsyms *k = load("ffffffff81000000 T first\nffffffff82000000 T last\n");

	assert_string_equal(at(k, 0), "none");
	assert_string_equal(at(k, 0xffffffff80ffffff), "none");
	assert_string_equal(at(k, 0xffffffff810fffff), "first+0xfffff [kernel]");
	assert_string_equal(at(k, 0xffffffff81100000), "none");
	assert_string_equal(at(k, 0xffffffff820fffff), "last+0xfffff [kernel]");
	assert_string_equal(at(k, 0xffffffff82100000), "none");
	assert_string_equal(at(k, UINT64_MAX), "none");
	kallsyms_free(k);
}

static void only_code_counts(void **state)
{
	struct kallsyms *k = load("ffffffff81000000 T code\n"
				  "ffffffff81000010 D data\n"
				  "ffffffff81000020 r rodata\n"
				  "ffffffff81000030 A absolute\n"
				  "ffffffff81000040 t $x\n"
				  "ffffffff81000050 t $d.12\n"
				  "ffffffff81000060 t .Ltmp0\n"
				  "ffffffff81000070 t __pfx_next\n"
				  "ffffffff81000080 t next\n"
				  "0000000000000000 T hidden\n");

	assert_int_equal(kallsyms_count(k), 2);
	assert_string_equal(at(k, 0xffffffff81000078), "code+0x78 [kernel]");
	assert_string_equal(at(k, 0xffffffff81000088), "next+0x8 [kernel]");
	kallsyms_free(k);
}

static void hidden_addresses_leave_no_names(void **state)
{
	struct kallsyms *k = load("0000000000000000 T _text\n0000000000000000 t foo\t[mod]\n");

	assert_int_equal(kallsyms_count(k), 0);
	assert_string_equal(at(k, 0), "none");
	assert_string_equal(at(k, 0xffffffff81000000), "none");
	kallsyms_free(k);
}

static void aliases_follow_the_rule(void **state)
{
	struct kallsyms *k =
		load("ffffffff81000000 t a\nffffffff81000000 T __sys_b\nffffffff81000000 T sys_bb\n"
		     "ffffffff81000000 T sys_b\nffffffff81000000 T sys_a\nffffffff81000000 W s\n"
		     "ffffffff81000100 w x\nffffffff81000100 t __y\n"
		     "ffffffff81000200 t a\nffffffff81000200 W __z\n");

	assert_string_equal(at(k, 0xffffffff81000001), "sys_a+0x1 [kernel]");
	assert_string_equal(at(k, 0xffffffff81000101), "__y+0x1 [kernel]");
	assert_string_equal(at(k, 0xffffffff81000201), "__z+0x1 [kernel]");
	kallsyms_free(k);
}

static void broken_lines_are_left_out(void **state)
{
	struct kallsyms *k =
		load("\n\n \nxyz\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
		     "ffffffff81000000T a\nffffffff81000000 Tb\nffffffff81000000  T c\n"
		     "ffffffff81000000 T \t[m]\n12 T low\nffffffff81000000 T good\n");

	assert_int_equal(kallsyms_count(k), 2);
	assert_string_equal(at(k, 0x12), "low+0x0 [kernel]");
	assert_string_equal(at(k, 0xffffffff81000000), "good+0x0 [kernel]");
	kallsyms_free(k);
}

/* Lines and whole symbols across the borders of the read buffer, and one longer than it. */
static void long_lines_and_borders_do_no_harm(void **state)
{
	size_t long_sz = 600000;
	char *text = calloc(1, long_sz + 200), *end;
	struct kallsyms *k;

	for (size_t pad = 262080; pad < 262160; pad++) {
		end = text + sprintf(text, "ffffffff81000000 T ");
		memset(end, 'n', pad - (end - text));
		strcpy(text + pad, "\nffffffff82000000 t next\t[mod]\n");
		k = load(text);
		assert_string_equal(at(k, 0xffffffff82000001), "next+0x1 [mod]");
		kallsyms_free(k);
	}
	memset(text, 'n', long_sz);
	memcpy(text, "ffffffff81000000 T ", 19);
	strcpy(text + long_sz, "\nffffffff82000000 t next\n");
	k = load(text);
	assert_string_equal(at(k, 0xffffffff82000001), "next+0x1 [kernel]");
	kallsyms_free(k);
	free(text);
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void many_lines_load_fast(void **state)
{
	FILE *f = fopen(path, "w");
	struct kallsyms *k;
	double start;

	for (uint64_t i = 0; i < 200000; i++)
		fprintf(f, "%016lx t some_function_name_%lu\t[mod%lu]\n",
			0xffffffff81000000 + i * 64, i, i / 2000);
	fclose(f);
	start = cpu_ms();
	k = kallsyms_load(path);
	print_message("200,000 lines in %.1f ms\n", cpu_ms() - start);
#if defined(__SANITIZE_ADDRESS__)
	assert_true(cpu_ms() - start < 600);
#else
	assert_true(cpu_ms() - start < 100);
#endif
	assert_int_equal(kallsyms_count(k), 200000);
	assert_string_equal(at(k, 0xffffffff81000000 + 123456 * 64 + 5),
			    "some_function_name_123456+0x5 [mod61]");
	kallsyms_free(k);
}

/* What scanf makes of this machine's own list, but for programs that come and go meanwhile. */
static void the_real_list_agrees_with_scanf(void **state)
{
	struct kallsyms *k = kallsyms_load("/proc/kallsyms");
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[1024], name[512], module[128], type;
	size_t lines = 0, same = 0;
	struct kallsym sym;
	uint64_t addr;

	if (!k || !f || !kallsyms_count(k)) {
		print_message("/proc/kallsyms is hidden\n");
		kallsyms_free(k);
		if (f)
			fclose(f);
		skip();
	}
	while (fgets(line, sizeof(line), f)) {
		strcpy(module, "[kernel]");
		if (sscanf(line, "%lx %c %511s %127s", &addr, &type, name, module) < 3 ||
		    !strchr("tTwW", type) || !strncmp(name, "__pfx_", 6) ||
		    !strcmp(module, "[bpf]"))
			continue;
		assert_true(kallsyms_find(k, addr, &sym));
		assert_int_equal(sym.offset, 0);
		assert_string_equal(sym.module, module);
		same += !strcmp(sym.name, name);
		lines++;
	}
	print_message("%zu lines, %zu names, %zu shown\n", lines, kallsyms_count(k), same);
	assert_true(same * 100 >= lines * 99);
	assert_true(lines > 10000);
	fclose(f);
	kallsyms_free(k);
}

static void what_cannot_be_read_is_an_error(void **state)
{
	errno = 0;
	assert_null(kallsyms_load("/nonexistent"));
	assert_int_equal(errno, ENOENT);
	assert_null(kallsyms_load("/tmp"));
	assert_int_equal(errno, EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_lie_in_the_symbol_before),
		cmocka_unit_test(far_addresses_have_no_name),
		cmocka_unit_test(only_code_counts),
		cmocka_unit_test(hidden_addresses_leave_no_names),
		cmocka_unit_test(aliases_follow_the_rule),
		cmocka_unit_test(broken_lines_are_left_out),
		cmocka_unit_test(long_lines_and_borders_do_no_harm),
		cmocka_unit_test(many_lines_load_fast),
		cmocka_unit_test(the_real_list_agrees_with_scanf),
		cmocka_unit_test(what_cannot_be_read_is_an_error),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
