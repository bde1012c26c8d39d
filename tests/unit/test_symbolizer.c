/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A profile before and after the symbolizer: names, modules, build-ids and rooted stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "symbol/kept.h"
#include "symbol/symbolizer.h"

static char dir[] = "/tmp/bpfprof-symbolizer.XXXXXX";

/* Functions of 64 bytes at known file offsets: .text begins at 0x1000, linked to 0x401000. */
static const char code[] = "	.macro function name\n"
			   "	.globl \\name\n"
			   "	.type \\name, @function\n"
			   "	.balign 64\n"
			   "\\name:	nop\n"
			   "	.size \\name, 64\n"
			   "	.skip 63, 0x90\n"
			   "	.endm\n"
			   "	.text\n"
			   "	function _start\n"			     /* 0x1000 */
			   "	function plain\n"			     /* 0x1040 */
			   "	function _ZN3foo3barIiEEvT_\n"		     /* 0x1080 */
			   "	function \"_Z3bazi.cold\"\n"		     /* 0x10c0 */
			   "	function _ZN4core3ptr17h5ad5b4ee3c1e9f02E\n" /* 0x1100 */
			   "	.skip 64\n";				     /* 0x1140, nobody's */

/* What the kernel would say. */
static const struct {
	uint64_t addr, size;
	const char *name, *module;
} kernel_list[] = {
	{ 0xffffffff81000000, 0x1000, "first", "" },
	{ 0xffffffff81001000, 0x1000, "schedule", "" },
	{ 0xffffffff81002000, 0x1000, "_RNvC3foo3bar", "" },
	{ 0xffffffffc0001000, 0x1000, "nft_do_chain", " [nf_tables]" },
};

static int ask(void *arg, struct prof_ksym *questions, size_t nr)
{
	assert_in_range(nr, 1, PROF_KSYM_BATCH);
	for (size_t q = 0; q < nr; q++) {
		uint64_t addr = questions[q].addr;

		snprintf(questions[q].text, sizeof(questions[q].text), "0x%" PRIx64, addr);
		for (size_t i = 0; i < sizeof(kernel_list) / sizeof(kernel_list[0]); i++)
			if (addr - kernel_list[i].addr < kernel_list[i].size)
				snprintf(questions[q].text, sizeof(questions[q].text),
					 "%s+0x%" PRIx64 "/0x%" PRIx64 "%s", kernel_list[i].name,
					 addr - kernel_list[i].addr, kernel_list[i].size,
					 kernel_list[i].module);
	}
	return 0;
}

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int group_setup(void **state)
{
	char command[512];

	if (!mkdtemp(dir))
		return -1;
	put_file("code.s", code);
	put_file("text", "no program\n");
	snprintf(command, sizeof(command),
		 "cd %s && as code.s -o code.o && "
		 "ld -Ttext=0x401000 --build-id=0x0123456789 code.o -o code",
		 dir);
	return system(command);
}

static int group_teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* Modules: 1 the program, 2 the vDSO, 3 a file that is gone, 4 one that is no program. */
enum { CODE = 1, VDSO, GONE, TEXT, NR_SOURCES };

struct fixture {
	struct profile *p;
	struct symbol_file sources[16]; /* more than modules that a run adds */
};

static struct fixture fixture_new(void)
{
	struct fixture f = { .p = profile_new() };
	char path[128];

	for (int i = 0; i < 16; i++)
		f.sources[i].fd = -1;
	profile_add_module(f.p, "/opt/app/bin/code");
	profile_add_module(f.p, "[vdso]");
	profile_add_module(f.p, "/usr/lib/gone.so.1 (deleted)");
	profile_add_module(f.p, "relative");
	snprintf(path, sizeof(path), "%s/code", dir);
	f.sources[CODE].fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(f.sources[CODE].fd >= 0);
	f.sources[VDSO].image = (const void *)getauxval(AT_SYSINFO_EHDR);
	f.sources[VDSO].image_sz = 2 * sysconf(_SC_PAGESIZE);
	snprintf(path, sizeof(path), "%s/text", dir);
	f.sources[TEXT].fd = open(path, O_RDONLY | O_CLOEXEC);
	return f;
}

static void fixture_run(struct fixture *f)
{
	symbolizer_run(f->p, f->sources, &(struct symbol_kernel){ .ask = ask },
		       &(struct symbol_options){});
}

static void fixture_free(struct fixture *f)
{
	profile_free(f->p);
	close(f->sources[CODE].fd);
	close(f->sources[TEXT].fd);
}

static void check_frame(const struct fixture *f, uint32_t id, const char *name, const char *linkage)
{
	const struct frame *frame = profile_frame_at(f->p, id);

	assert_string_equal(profile_str(f->p, frame->name), name);
	assert_string_equal(profile_str(f->p, frame->linkage), linkage);
}

static void check_kernel(const struct fixture *f, uint32_t id, const char *module, uint64_t offset)
{
	const struct frame *frame = profile_frame_at(f->p, id);

	assert_string_equal(profile_str(f->p, f->p->modules[frame->module].path), module);
	assert_int_equal(frame->offset, offset);
}

static void user_frames_are_named(void **state)
{
	static const struct {
		uint64_t offset;
		const char *name, *linkage;
	} rows[] = {
		{ 0x1041, "plain", "" },
		{ 0x10c4, "baz [clone .cold]", "_Z3bazi.cold" },
		{ 0x10bf, "foo::bar<int>", "_ZN3foo3barIiEEvT_" },
		{ 0x1080, "foo::bar<int>", "_ZN3foo3barIiEEvT_" },
		{ 0x1110, "core::ptr", "_ZN4core3ptr17h5ad5b4ee3c1e9f02E" },
		{ 0x1150, "[code+0x401150]", "" },
		{ 0x10, "[code+0x10]", "" },
		{ 0x999999, "[code+0x999999]", "" },
	};
	struct fixture f = fixture_new();
	uint32_t ids[8];

	for (size_t i = 0; i < 8; i++)
		ids[i] = profile_frame(f.p, FRAME_USER, CODE, rows[i].offset);
	fixture_run(&f);
	for (size_t i = 0; i < 8; i++) {
		check_frame(&f, ids[i], rows[i].name, rows[i].linkage);
		assert_int_equal(profile_frame_at(f.p, ids[i])->offset, rows[i].offset);
		assert_int_equal(profile_frame_at(f.p, ids[i])->module, CODE);
	}
	fixture_free(&f);
}

static void run(const char *command)
{
	char all[512];

	snprintf(all, sizeof(all), "cd %s && %s", dir, command);
	assert_int_equal(system(all), 0);
}

/*
 * The same file, open as before, with another function at the address: what ran was not that, so it
 * has no name; and what runs from then on is another file, of which nothing is kept.
 */
static void names_of_a_file_end_when_it_is_written_to(void **state)
{
	static const char *const names[] = { "plain", "[program+0x1042]", "other" };
	struct symbol_options options = { .kept = kept_new(1 << 20) };
	struct fixture f = fixture_new();
	struct symbol_file *file = &f.sources[CODE];
	char path[128];

	run("sed s/plain/other/ code.s | as -o other.o && "
	    "ld -Ttext=0x401000 --build-id=0x0123456789 other.o -o other && cp code program");
	snprintf(path, sizeof(path), "%s/program", dir);
	close(file->fd);
	f.p->modules[CODE].path = profile_string(f.p, path);
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	usleep(2100000); /* of what has just changed nothing is kept */
	file->id = file_id_read(file->fd);
	assert_true(file_id_is_settled(&file->id));
	for (int i = 0; i < 3; i++) {
		uint32_t id = profile_frame(f.p, FRAME_USER, CODE, 0x1041 + i);

		symbolizer_run(f.p, f.sources, &(struct symbol_kernel){ .ask = ask }, &options);
		check_frame(&f, id, names[i], "");
		if (!i)
			run("cat other >program");
		else
			file->id = file_id_read(file->fd);
	}
	kept_free(options.kept);
	fixture_free(&f);
}

static bool may_read_some(void *arg)
{
	int *left = arg;

	return (*left)-- > 0;
}

/*
 * Of two files there is time for one: the one that matters more. What does not matter keeps having
 * no name, and what takes no file has one all the same. The next time all is there.
 */
static void what_matters_most_is_named_first(void **state)
{
	struct fixture f = fixture_new();
	uint32_t wanted[8] = {}, first, other, more, kernel;
	int left = 1;
	struct symbol_options options = { .wanted = wanted,
					  .may_read = may_read_some,
					  .arg = &left };

	f.sources[GONE].fd = dup(f.sources[CODE].fd);
	first = profile_frame(f.p, FRAME_USER, CODE, 0x1041);
	more = profile_frame(f.p, FRAME_USER, CODE, 0x10c4);
	other = profile_frame(f.p, FRAME_USER, GONE, 0x1042);
	kernel = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffff81001008);
	assert_true(kernel < 8);
	wanted[first] = 2;
	wanted[other] = 3;
	wanted[kernel] = 1;
	for (int i = 0; i < 2; i++) {
		symbolizer_run(f.p, f.sources, &(struct symbol_kernel){ .ask = ask }, &options);
		check_frame(&f, other, "plain", "");
		check_frame(&f, kernel, "schedule", "");
		check_frame(&f, first, i ? "plain" : "", "");
		check_frame(&f, more, "", "");
		assert_int_equal(left, i ? 0 : -1); /* it asked once for each file */
		left = 1;
	}
	options = (struct symbol_options){};
	symbolizer_run(f.p, f.sources, &(struct symbol_kernel){ .ask = ask }, &options);
	check_frame(&f, more, "baz [clone .cold]", "_Z3bazi.cold");
	close(f.sources[GONE].fd);
	fixture_free(&f);
}

static const char *kept_name(struct kept *k, const struct symbol_file *file, uint64_t offset,
			     struct answer *a)
{
	if (!kept_find(kept_get(k, &file->id), offset, a))
		return NULL;
	return a->found.nr ? a->found.chain[0].name : "";
}

/* The first time it says what it was asked for; then all, so that a third time is seldom needed. */
static void a_file_that_is_read_again_tells_all(void **state)
{
	struct symbol_options options = { .kept = kept_new(1 << 20) };
	struct fixture f = fixture_new();
	struct symbol_file *file = &f.sources[CODE];
	struct answer a;

	usleep(2100000); /* of what has just changed nothing is kept */
	file->id = file_id_read(file->fd);
	assert_true(file_id_is_settled(&file->id));
	profile_frame(f.p, FRAME_USER, CODE, 0x1041);
	symbolizer_run(f.p, f.sources, &(struct symbol_kernel){ .ask = ask }, &options);
	assert_string_equal(kept_name(options.kept, file, 0x1042, &a), "plain");
	assert_null(kept_name(options.kept, file, 0x10c4, &a));
	profile_frame(f.p, FRAME_USER, CODE, 0x1110);
	symbolizer_run(f.p, f.sources, &(struct symbol_kernel){ .ask = ask }, &options);
	assert_string_equal(kept_name(options.kept, file, 0x10c4, &a), "_Z3bazi.cold");
	assert_string_equal(kept_name(options.kept, file, 0x1080, &a), "_ZN3foo3barIiEEvT_");
	kept_free(options.kept);
	fixture_free(&f);
}

static void what_cannot_be_read_keeps_its_address(void **state)
{
	struct fixture f = fixture_new();
	uint32_t gone = profile_frame(f.p, FRAME_USER, GONE, 0x1234);
	uint32_t text = profile_frame(f.p, FRAME_USER, TEXT, 0x77);
	uint32_t vdso = profile_frame(f.p, FRAME_USER, VDSO, 1);
	uint32_t nowhere = profile_frame(f.p, FRAME_USER, 0, 5);
	uint32_t jit = profile_frame(f.p, FRAME_ANON, 0, 0x7f00);
	uint32_t unknown = profile_frame(f.p, FRAME_UNKNOWN, 0, 0x7f01);

	fixture_run(&f);
	check_frame(&f, gone, "[gone.so.1 (deleted)+0x1234]", "");
	check_frame(&f, text, "[relative+0x77]", "");
	check_frame(&f, vdso, "[vdso+0x1]", "");
	check_frame(&f, nowhere, "[unknown]", "");
	check_frame(&f, jit, "[jit]", "");
	check_frame(&f, unknown, "[unknown]", "");
	fixture_free(&f);
}

/* The vDSO of any kernel has clock_gettime somewhere, under one of its names. */
static void the_vdso_is_named_from_memory(void **state)
{
	struct fixture f = fixture_new();
	const char *name;
	size_t named = 0;

	if (!f.sources[VDSO].image)
		skip();
	for (uint64_t offset = 0; offset < f.sources[VDSO].image_sz; offset += 16)
		profile_frame(f.p, FRAME_USER, VDSO, offset);
	fixture_run(&f);
	for (size_t i = 1; i < f.p->nr_frames; i++) {
		name = profile_frame_name(f.p, i);
		assert_true(name[0]);
		named += strstr(name, "clock_gettime") != NULL;
	}
	assert_true(named > 0);
	fixture_free(&f);
}

static void no_kernel_address_stays(void **state)
{
	struct fixture f = fixture_new();
	uint32_t a = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffff81001234);
	uint32_t rust = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffff81002001);
	uint32_t module = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffffc0001010);
	uint32_t module2 = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffffc0001020);
	uint32_t far = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffffd0000000);
	uint32_t low = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffff80000000);

	fixture_run(&f);
	check_frame(&f, a, "schedule", "");
	check_kernel(&f, a, "[kernel]", 0x234);
	check_frame(&f, rust, "foo::bar", "_RNvC3foo3bar");
	check_kernel(&f, rust, "[kernel]", 1);
	check_frame(&f, module, "nft_do_chain", "");
	check_kernel(&f, module, "[nf_tables]", 0x10);
	check_frame(&f, far, "[kernel]", "");
	check_kernel(&f, far, "[kernel]", 0);
	check_frame(&f, low, "[kernel]", "");
	check_kernel(&f, low, "[kernel]", 0);
	assert_int_equal(profile_frame_at(f.p, module)->module,
			 profile_frame_at(f.p, module2)->module);
	assert_int_equal(f.p->nr_modules, NR_SOURCES + 2); /* each added once */
	fixture_free(&f);
}

static void an_unreadable_kernel_is_one_frame(void **state)
{
	struct fixture f = fixture_new();
	uint32_t a = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffff81001234);
	uint32_t b = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffff81000234);

	symbolizer_run(f.p, f.sources, &(struct symbol_kernel){}, &(struct symbol_options){});
	check_frame(&f, a, "[kernel]", "");
	check_kernel(&f, a, "[kernel]", 0);
	check_kernel(&f, b, "[kernel]", 0);
	assert_int_equal(f.p->nr_modules, NR_SOURCES + 1);
	fixture_free(&f);
}

static void build_ids_are_taken(void **state)
{
	static const uint8_t expected[20] = { 0x01, 0x23, 0x45, 0x67, 0x89 };
	struct fixture f = fixture_new();

	for (uint32_t module = CODE; module < NR_SOURCES; module++)
		profile_frame(f.p, FRAME_USER, module, 0);
	fixture_run(&f);
	assert_int_equal(f.p->modules[CODE].build_id_len, 5);
	assert_memory_equal(f.p->modules[CODE].build_id, expected, 20);
	assert_int_equal(f.p->modules[GONE].build_id_len, 0);
	assert_int_equal(f.p->modules[TEXT].build_id_len, 0);
	fixture_free(&f);
}

static void named_frames_are_left_alone(void **state)
{
	struct fixture f = fixture_new();
	uint32_t id = profile_frame(f.p, FRAME_USER, CODE, 0x1041);
	uint32_t kernel = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffff81001234);

	fixture_run(&f);
	fixture_run(&f);
	check_frame(&f, id, "plain", "");
	check_frame(&f, kernel, "schedule", "");
	check_kernel(&f, kernel, "[kernel]", 0x234);
	fixture_free(&f);
}

static void a_loaded_recording_keeps_its_names(void **state)
{
	struct fixture f = fixture_new();
	uint32_t module = profile_add_generated(f.p, 1234);
	uint32_t plain = profile_frame(f.p, FRAME_USER, CODE, 0x1041);
	uint32_t jit = profile_frame(f.p, FRAME_ANON, module, 0x7f00);
	uint32_t known = profile_frame(f.p, FRAME_ANON, module, 0x7f40);
	uint32_t new = profile_frame(f.p, FRAME_USER, GONE, 0x1234);

	profile_name_frame(f.p, plain, profile_string(f.p, "plain"), 0);
	profile_name_frame(f.p, jit, profile_string(f.p, PROFILE_JIT), 0);
	profile_name_frame(f.p, known, profile_string(f.p, "LazyCompile:f"), 0);
	symbolizer_run(f.p, NULL, NULL, &(struct symbol_options){});
	check_frame(&f, plain, "plain", "");
	check_frame(&f, jit, "[jit]", "");
	check_frame(&f, known, "LazyCompile:f", "");
	check_frame(&f, new, "[gone.so.1 (deleted)+0x1234]", "");
	assert_int_equal(profile_frame_at(f.p, jit)->offset, 0x7f00);
	assert_int_equal(f.p->modules[module].pid, 1234);
	fixture_free(&f);
}

static bool is_rooted(struct fixture *f, uint32_t outermost, size_t nr, enum unwind_end end)
{
	uint32_t frames[8], stack;

	for (size_t i = 0; i + 1 < nr; i++)
		frames[i] = profile_frame_at(f->p, outermost)->kind == FRAME_KERNEL
				    ? outermost
				    : profile_frame(f->p, FRAME_USER, CODE, 0x1041 + i);
	frames[nr - 1] = outermost;
	stack = profile_stack(f->p, frames, nr, end, 0);
	fixture_run(f);
	return f->p->stacks[stack].flags & STACK_ROOTED;
}

static void rooted_stacks_are_told_from_cut_ones(void **state)
{
	struct fixture f = fixture_new();
	uint32_t start = profile_frame(f.p, FRAME_USER, CODE, 0x1002);
	uint32_t plain = profile_frame(f.p, FRAME_USER, CODE, 0x1042);
	uint32_t kernel = profile_frame(f.p, FRAME_KERNEL, 0, 0xffffffff81001234);

	assert_true(is_rooted(&f, start, 3, UNWIND_END_BAD_FP));
	assert_true(is_rooted(&f, start, 1, UNWIND_END_READ));
	assert_false(is_rooted(&f, plain, 3, UNWIND_END_BAD_FP));
	assert_false(is_rooted(&f, plain, 3, UNWIND_END_READ));
	assert_true(is_rooted(&f, plain, 2, UNWIND_END_ROOT));
	assert_false(is_rooted(&f, plain, 1, UNWIND_END_ROOT));
	assert_true(is_rooted(&f, plain, 1, UNWIND_END_CFI_ROOT));
	assert_true(is_rooted(&f, plain, 2, UNWIND_END_CFI_ROOT));
	assert_true(is_rooted(&f, plain, 2, UNWIND_END_ENTRY));
	assert_false(is_rooted(&f, plain, 3, UNWIND_END_NO_TABLE));
	assert_false(is_rooted(&f, plain, 3, UNWIND_END_NO_CODE));
	assert_false(is_rooted(&f, plain, 3, UNWIND_END_NO_CFI));
	assert_false(is_rooted(&f, plain, 3, UNWIND_END_BAD_CFA));
	assert_false(is_rooted(&f, plain, 3, UNWIND_END_LOST_REG));
	assert_true(is_rooted(&f, kernel, 3, UNWIND_END_NONE));
	assert_false(is_rooted(&f, kernel, 3, UNWIND_END_DEPTH));
	assert_false(f.p->stacks[0].flags & STACK_ROOTED);
	fixture_free(&f);
}

/* By the name a frame got, so that the table is known to be sorted as the search needs it. */
static void all_entry_functions_root(void **state)
{
	static const char *const names[] = {
		"_start",
		"__libc_start_main",
		"__libc_start_main_impl",
		"__libc_start_call_main",
		"start_thread",
		"clone",
		"__clone",
		"clone3",
		"__clone3",
		"thread_start",
		"_dl_start_user",
		"runtime.rt0_go",
		"runtime.goexit",
		"runtime.goexit.abi0",
		"runtime.mstart",
		"_start_c",
		"__pthread_start",
	};
	struct fixture f = fixture_new();
	uint32_t id;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		id = profile_frame(f.p, FRAME_USER, CODE, 0x1200 + i);
		profile_name_frame(f.p, id, profile_string(f.p, names[i]), 0);
		assert_true(is_rooted(&f, id, 2, UNWIND_END_READ));
		id = profile_frame(f.p, FRAME_USER, CODE, 0x1300 + i);
		profile_name_frame(f.p, id, profile_string(f.p, "shown"),
				   profile_string(f.p, names[i]));
		assert_true(is_rooted(&f, id, 2, UNWIND_END_READ));
	}
	id = profile_frame(f.p, FRAME_ANON, 0, 0x1400);
	profile_name_frame(f.p, id, profile_string(f.p, "_start"), 0);
	assert_false(is_rooted(&f, id, 2, UNWIND_END_READ));
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_frames_are_named),
		cmocka_unit_test(names_of_a_file_end_when_it_is_written_to),
		cmocka_unit_test(what_matters_most_is_named_first),
		cmocka_unit_test(a_file_that_is_read_again_tells_all),
		cmocka_unit_test(what_cannot_be_read_keeps_its_address),
		cmocka_unit_test(the_vdso_is_named_from_memory),
		cmocka_unit_test(no_kernel_address_stays),
		cmocka_unit_test(an_unreadable_kernel_is_one_frame),
		cmocka_unit_test(build_ids_are_taken),
		cmocka_unit_test(named_frames_are_left_alone),
		cmocka_unit_test(a_loaded_recording_keeps_its_names),
		cmocka_unit_test(rooted_stacks_are_told_from_cut_ones),
		cmocka_unit_test(all_entry_functions_root),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
