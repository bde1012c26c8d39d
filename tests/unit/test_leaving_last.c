/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways out of functions that go on as others, by jumps and by stubs of the linkage table, in a
 * library that is made here of assembler: so each instruction is known.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "uprobe/leaving.h"
#include "uprobe/stubs.h"

/*
 * Labels that begin with "out_" are the ways out. A global function is reached by its stub, since
 * others may have one of the same name.
 */
static const char source[] =
	"	.text\n"
	"	.macro fn name\n	.globl \\name\n	.type \\name,@function\n\\name:\n"
	"	.cfi_startproc\n	.endm\n"
	"	.macro end name\n	.cfi_endproc\n	.size \\name, . - \\name\n	.endm\n"
	"	fn last\n	nop\nout_last: ret\n	end last\n"
	"	fn jumps\n	nop\n	jmp last@PLT\n	end jumps\n"
	"	fn branches\n	test %edi, %edi\n	je last@PLT\nout_branches: ret\n"
	"	end branches\n"
	"	fn twice\n	jmp jumps@PLT\n	end twice\n"
	"	fn either\n	test %edi, %edi\n	je last@PLT\n	jmp branches@PLT\n"
	"	end either\n"
	"	fn to_others\nout_to_others: jmp elsewhere@PLT\n	end to_others\n"
	"	fn by_pointer\nout_by_pointer: jmp *%rdi\n	end by_pointer\n"
	"	fn to_pointer\n	jmp by_pointer@PLT\n	end to_pointer\n"
	"	fn itself\n	nop\n	jmp itself@PLT\n	end itself\n"
	"	fn illegible\n	ret\n	.byte 0x0f, 0xff, 0x06\n	end illegible\n"
	"	fn to_illegible\nout_to_illegible: jmp illegible@PLT\n	end to_illegible\n"
	"	fn endless\n1:	nop\n	jmp 1b\n	end endless\n"
	/* No symbol, but a row in the unwind tables. */
	"	.p2align 4\nhidden:\n	.cfi_startproc\n	nop\nout_hidden: ret\n	.cfi_endproc\n"
	"	fn to_hidden\n	jmp hidden\n	end to_hidden\n"
	"	.section .note.GNU-stack,\"\",@progbits\n";

static char dir[] = "/tmp/bpfprof-leaving.XXXXXX";
static struct functions *fs;
static struct places *places;
static struct stubs *stubs;

static int sh(const char *command)
{
	char text[512];

	snprintf(text, sizeof(text), "cd %s && %s", dir, command);
	return system(text);
}

static int group_setup(void **state)
{
	char path[64];
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/x.s", dir);
	f = fopen(path, "w");
	if (!f || fputs(source, f) < 0 || fclose(f))
		return -1;
#if defined(__x86_64__)
	/* As users have it, the labels and "hidden" go; what they were is in all.so. */
	if (sh("cc -shared -nostdlib -o all.so x.s && strip -o x.so --strip-all all.so"))
		return -1;
	snprintf(path, sizeof(path), "%s/x.so", dir);
	fs = functions_open(path);
	places = fs ? places_open(fs) : NULL;
	stubs = fs ? stubs_new(fs) : NULL;
	return places ? 0 : -1;
#else
	return 0;
#endif
}

static int group_teardown(void **state)
{
	stubs_free(stubs);
	places_free(places);
	functions_free(fs);
	return sh("rm -rf \"$PWD\"");
}

static const struct uprobe_function *named(const char *name)
{
	const struct uprobe_function *all;
	size_t nr;

	all = functions_all(fs, &nr);
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	fail_msg("no %s", name);
	return NULL;
}

/* Of a label, by nm. */
static uint64_t offset_of(const char *label)
{
	char command[128];
	uint64_t address = 0, offset = 0;
	FILE *p;

	snprintf(command, sizeof(command), "nm %s/all.so | awk '$3 == \"%s\" { print $1 }'", dir,
		 label);
	p = popen(command, "r");
	assert_int_equal(fscanf(p, "%lx", &address), 1);
	pclose(p);
	assert_true(elf_file_offset(functions_file(fs), address, &offset));
	return offset;
}

/* labels: of all ways out, between spaces; a jump ends in "*". */
static void check_ways(const char *function, const char *labels)
{
	char *copy = strdup(labels), *rest = copy, *label;
	struct leaving *v = NULL;
	size_t nr = 0, expected = 0;

	assert_int_equal(leaving_find_last(places, fs, named(function), &v, &nr), 0);
	while (*labels && (label = strsep(&rest, " "))) {
		bool jumps = label[strlen(label) - 1] == '*', found = false;

		label[strcspn(label, "*")] = '\0';
		for (size_t i = 0; i < nr; i++)
			found |= v[i].offset == offset_of(label) && v[i].jumps == jumps;
		if (!found)
			fail_msg("%s is not left at %s", function, label);
		expected++;
	}
	if (nr != expected)
		fail_msg("%s: %zu ways out, not %zu", function, nr, expected);
	free(copy);
	free(v);
}

static void need_code(void)
{
	if (!fs)
		skip(); /* the code is of x86-64 */
}

static void ways_out_are_those_of_what_it_goes_on_as(void **state)
{
	need_code();
	check_ways("last", "out_last");
	check_ways("jumps", "out_last");
	check_ways("twice", "out_last");
	check_ways("branches", "out_last out_branches");
	check_ways("either", "out_last out_branches");
	check_ways("to_hidden", "out_hidden");
	check_ways("itself", "");
}

static void jumps_to_what_is_not_known_stay_ways_out(void **state)
{
	need_code();
	check_ways("to_others", "out_to_others*");
	check_ways("by_pointer", "out_by_pointer*");
	check_ways("to_pointer", "out_by_pointer*");
	check_ways("to_illegible", "out_to_illegible*");
}

static void what_cannot_be_decoded_is_said(void **state)
{
	struct leaving *v = NULL;
	size_t nr = 0;

	need_code();
	assert_int_equal(leaving_find_last(places, fs, named("illegible"), &v, &nr), -EILSEQ);
	assert_int_equal(nr, 0);
	free(v);
}

static bool is_last(void *arg, const struct uprobe_function *next)
{
	(*(int *)arg)++;
	return !strcmp(next->name, "last");
}

static void check_only(const char *function, bool expected, int asked)
{
	int nr = 0;

	if (leaving_only_for(places, fs, named(function), is_last, &nr) != expected)
		fail_msg("%s", function);
	assert_int_equal(nr, asked);
}

static void only_for_others_is_what_does_nothing_else(void **state)
{
	need_code();
	check_only("jumps", true, 1);
	check_only("twice", false, 1);	  /* goes on as one that is not accepted */
	check_only("either", false, 2);	  /* so does one of two */
	check_only("branches", false, 1); /* it returns by itself as well */
	check_only("last", false, 0);
	check_only("by_pointer", false, 0);
	check_only("to_others", false, 0); /* a stub that leads out of the file */
	check_only("itself", false, 0);
	check_only("endless", false, 0); /* it goes on as nobody */
}

static uint64_t stub_of(const char *name)
{
	char command[256];
	uint64_t address = 0;
	FILE *p;

	snprintf(command, sizeof(command),
		 "objdump -d %s/all.so | sed -n 's/^\\([0-9a-f]*\\) <%s@plt>:/\\1/p'", dir, name);
	p = popen(command, "r");
	assert_int_equal(fscanf(p, "%lx", &address), 1);
	pclose(p);
	return address;
}

static void stubs_lead_to_functions_of_the_file(void **state)
{
	const struct uprobe_function *last;

	need_code();
	last = named("last");
	assert_true(stubs_has(stubs, stub_of("last")));
	assert_ptr_equal(stubs_lead_to(stubs, stub_of("last")), last);
	assert_ptr_equal(stubs_lead_to(stubs, stub_of("jumps")), named("jumps"));
	/* Of another file; no stub. */
	assert_true(stubs_has(stubs, stub_of("elsewhere")));
	assert_null(stubs_lead_to(stubs, stub_of("elsewhere")));
	assert_false(stubs_has(stubs, last->address));
	assert_null(stubs_lead_to(stubs, last->address));
	assert_false(stubs_has(stubs, 0));
	assert_null(stubs_lead_to(stubs, 1ull << 40));
	stubs_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_out_are_those_of_what_it_goes_on_as),
		cmocka_unit_test(jumps_to_what_is_not_known_stay_ways_out),
		cmocka_unit_test(what_cannot_be_decoded_is_said),
		cmocka_unit_test(only_for_others_is_what_does_nothing_else),
		cmocka_unit_test(stubs_lead_to_functions_of_the_file),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
