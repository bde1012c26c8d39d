/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* .gopclntab: a table of two functions, made here, and what is wrong with others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf/gopclntab.h"

#define VADDR 0x10000
#define TEXT  0x401000

/* As the linker of Go lays it out; offsets count from the header. */
struct table {
	uint32_t magic;
	uint8_t zero[2], quantum, pointer;
	uint64_t nr_functions, nr_files, text, names, units, files, pcs, rows;
	char name[16];	  /* "main.f", "main.g" */
	uint32_t unit[2]; /* where names of files are */
	char file[8];
	uint8_t numbers[24];
	struct {
		uint32_t start, about;
	} row[3];
	struct {
		uint32_t start, name, args, deferred, frames, files, lines, nr_numbers, unit, line;
		uint8_t id, flags, pad, nr_data;
	} about[2];
};

static struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	char names[32];
	struct table table;
} image;

static void make_table(struct table *t)
{
	static const uint8_t numbers[] = {
		0,  2,	1, 16, 10, 15, 5, 0, /* frames: 0 for 1 byte, 8 for 10, 0 for 5 */
		2,  16, 0,		     /* file 0 for 16 */
		20, 4,	2, 12, 0,	     /* line 9 for 4, 10 for 12 */
	};

	*t = (struct table){ .magic = 0xfffffff1,
			     .quantum = 1,
			     .pointer = 8,
			     .nr_functions = 2,
			     .nr_files = 1,
			     .text = TEXT,
			     .names = offsetof(struct table, name),
			     .units = offsetof(struct table, unit),
			     .files = offsetof(struct table, file),
			     .pcs = offsetof(struct table, numbers),
			     .rows = offsetof(struct table, row),
			     .name = "main.f\0main.g",
			     .file = "a.go" };
	memcpy(t->numbers, numbers, sizeof(numbers));
	for (uint32_t i = 0; i < 2; i++) {
		t->row[i].start = 16 * i;
		t->row[i].about = offsetof(struct table, about[i]) - offsetof(struct table, row);
		t->about[i].name = 7 * i;
		t->about[i].frames = 1;
		t->about[i].files = 8;
		t->about[i].lines = 11;
		t->about[i].flags = i ? GO_TOP_FRAME : 0;
	}
	t->row[2].start = 32;
}

static struct elf_file *make_file(void)
{
	image = (struct image){ .names = "\0.gopclntab\0.strtab" };
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_machine = EM_X86_64;
	image.header.e_phoff = offsetof(struct image, segment);
	image.header.e_phnum = 1;
	image.header.e_phentsize = sizeof(image.segment);
	image.header.e_shoff = offsetof(struct image, sections);
	image.header.e_shnum = 3;
	image.header.e_shentsize = sizeof(image.sections[0]);
	image.header.e_shstrndx = 2;
	image.sections[1] = (Elf64_Shdr){ .sh_name = 1,
					  .sh_type = SHT_PROGBITS,
					  .sh_addr = VADDR,
					  .sh_offset = offsetof(struct image, table),
					  .sh_size = sizeof(image.table) };
	image.sections[2] = (Elf64_Shdr){ .sh_name = 12,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct image, names),
					  .sh_size = sizeof(image.names) };
	make_table(&image.table);
	return elf_file_open_image(&image, sizeof(image));
}

static void functions_have_names_and_lines(void **state)
{
	struct elf_file *f = make_file();
	struct gopclntab *t = gopclntab_open(f);
	struct gopclntab_call call;
	struct gopclntab_function fn;

	assert_non_null(t);
	assert_int_equal(gopclntab_count(t), 2);
	assert_int_equal(gopclntab_calls(t, TEXT + 16 + 3, &call, 1), 1);
	assert_string_equal(call.name, "main.g");
	assert_string_equal(call.file, "a.go");
	assert_int_equal(call.line, 9);
	assert_int_equal(gopclntab_calls(t, TEXT + 4, &call, 1), 1);
	assert_string_equal(call.name, "main.f");
	assert_int_equal(call.line, 10);
	assert_int_equal(gopclntab_calls(t, TEXT - 1, &call, 1), 0);
	assert_int_equal(gopclntab_calls(t, TEXT + 32, &call, 1), 0);
	assert_true(gopclntab_find(t, TEXT + 31, &fn));
	assert_int_equal(fn.start, TEXT + 16);
	assert_int_equal(fn.flags, GO_TOP_FRAME);
	gopclntab_close(t);
	elf_file_close(f);
}

static void frames_have_sizes(void **state)
{
	static const struct {
		uint64_t from, to;
		int64_t value;
	} wanted[] = { { 0, 1, 0 }, { 1, 11, 8 }, { 11, 16, 0 } };
	struct elf_file *f = make_file();
	struct gopclntab *t = gopclntab_open(f);
	struct gopclntab_function fn;
	struct gopclntab_values v;

	assert_true(gopclntab_get(t, 0, &fn));
	assert_true(gopclntab_frame_sizes(t, &fn, &v));
	for (size_t i = 0; i < 3; i++) {
		assert_true(gopclntab_next(&v));
		assert_int_equal(v.from, TEXT + wanted[i].from);
		assert_int_equal(v.to, TEXT + wanted[i].to);
		assert_int_equal(v.value, wanted[i].value);
	}
	assert_false(gopclntab_next(&v));
	gopclntab_close(t);
	elf_file_close(f);
}

/* What lies outside of the table is not there, and costs nothing else. */
static void lies_cost_themselves(void **state)
{
	struct elf_file *f = make_file();
	struct gopclntab *t;
	struct gopclntab_function fn;
	struct gopclntab_values v;
	struct gopclntab_call call;

	image.table.about[0].name = 1 << 30;
	image.table.about[1].frames = UINT32_MAX;
	image.table.about[1].files = UINT32_MAX;
	t = gopclntab_open(f);
	assert_non_null(t);
	assert_false(gopclntab_get(t, 0, &fn));
	assert_true(gopclntab_get(t, 1, &fn));
	assert_false(gopclntab_frame_sizes(t, &fn, &v));
	assert_int_equal(gopclntab_calls(t, TEXT + 16, &call, 1), 1);
	assert_null(call.file);
	assert_false(gopclntab_get(t, 2, &fn));
	gopclntab_close(t);
	image.table.nr_functions = UINT64_MAX / 8;
	assert_null(gopclntab_open(f));
	image.table.nr_functions = 2;
	image.table.magic = 0xfffffffb; /* Go 1.2 */
	assert_null(gopclntab_open(f));
	elf_file_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_names_and_lines),
		cmocka_unit_test(frames_have_sizes),
		cmocka_unit_test(lies_cost_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
