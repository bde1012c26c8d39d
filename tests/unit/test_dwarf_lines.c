/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Line tables that were written by hand, of all versions, and broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/dwarf_lines.h"

struct table {
	uint8_t bytes[512];
	size_t len, header; /* header: where its length stands */
};

static void put(struct table *t, const void *bytes, size_t len)
{
	assert_true(t->len + len <= sizeof(t->bytes));
	memcpy(t->bytes + t->len, bytes, len);
	t->len += len;
}

#define PUT(t, ...)                                                                                \
	put(t, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void set_u32(struct table *t, size_t at, uint32_t v)
{
	memcpy(t->bytes + at, &v, sizeof(v));
}

/* line_base -3, line_range 12, opcode_base 10: special opcode 13 is "line + 0, address + 0". */
static void begin(struct table *t, uint8_t version)
{
	*t = (struct table){};
	PUT(t, 0, 0, 0, 0, version, 0);
	if (version >= 5)
		PUT(t, 8, 0);
	t->header = t->len;
	PUT(t, 0, 0, 0, 0, 1);
	if (version >= 4)
		PUT(t, 1);
	PUT(t, 1, (uint8_t)-3, 12, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1);
}

static void end_header(struct table *t)
{
	set_u32(t, t->header, t->len - t->header - 4);
}

static void put_old_names(struct table *t)
{
	put(t, "inc\0", 5);	      /* one folder, and the end */
	put(t, "main.c\0\0\0", 10);   /* of folder 0, no time, no size */
	put(t, "part.h\0\1\0\0", 11); /* of folder 1, and the end */
	end_header(t);
}

/* Folders and files, each a string, files with the number of their folder. */
static void put_new_names(struct table *t)
{
	PUT(t, 1, 1, 8, 2);
	put(t, "/src\0inc", 9);
	PUT(t, 2, 1, 8, 2, 11, 3);
	put(t, "main.c\0", 8);
	put(t, "main.c\0", 8);
	put(t, "part.h\0\1", 8);
	end_header(t);
}

static void put_address(struct table *t, uint64_t address)
{
	PUT(t, 0, 9, 2);
	put(t, &address, sizeof(address));
}

/* Four lines in two files; the last byte is at start + 15. */
static void put_sequence(struct table *t, uint64_t start)
{
	put_address(t, start);
	PUT(t, 3, 9, 1);		/* line 10 */
	PUT(t, 13 + 12 * 4 + 1);	/* line 11, 4 bytes further */
	PUT(t, 2, 4, 4, 2, 3, 0x7b, 1); /* 4 bytes, file 2, line 6 */
	PUT(t, 13 + 12 * 4);		/* the same line */
	PUT(t, 2, 4, 0, 1, 1);		/* the end, 4 bytes further */
}

static void load(struct dwarf_lines *l, struct table *t)
{
	struct dwarf_line_sections s = { .line = t->bytes, .line_sz = t->len };

	set_u32(t, 0, t->len - 4);
	dwarf_lines_load(l, &s, 0);
}

static void check_line(const struct dwarf_lines *l, uint64_t address, uint32_t file, uint32_t line)
{
	const struct dwarf_row *r = dwarf_lines_find(l->rows, l->nr_rows, address);

	assert_int_equal(r ? r->line : 0, line);
	if (r)
		assert_int_equal(r->file, file);
}

static void check_path(const struct dwarf_lines *l, uint32_t file, const char *expected)
{
	char *path = dwarf_lines_path(l, file, "/work");

	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(path);
	free(path);
}

static void check_sequence(const struct dwarf_lines *l, uint64_t start)
{
	check_line(l, start - 1, 0, 0);
	check_line(l, start, 1, 10);
	check_line(l, start + 3, 1, 10);
	check_line(l, start + 4, 1, 11);
	check_line(l, start + 8, 2, 6);
	check_line(l, start + 15, 2, 6);
	check_line(l, start + 16, 0, 0);
}

static void all_versions_say_the_same(void **state)
{
	for (uint8_t version = 2; version <= 5; version++) {
		struct dwarf_lines l;
		struct table t;

		begin(&t, version);
		if (version < 5)
			put_old_names(&t);
		else
			put_new_names(&t);
		put_sequence(&t, 0x2000);
		put_sequence(&t, 0x1000); /* sections come in any order */
		load(&l, &t);
		check_sequence(&l, 0x1000);
		check_sequence(&l, 0x2000);
		assert_int_equal(l.nr_rows, 8);
		check_path(&l, 1, version < 5 ? "/work/main.c" : "/src/main.c");
		check_path(&l, 2, "/work/inc/part.h");
		check_path(&l, 3, NULL);
		dwarf_lines_release(&l);
	}
}

static void dropped_code_has_no_lines(void **state)
{
	struct dwarf_lines l;
	struct table t;

	begin(&t, 4);
	put_old_names(&t);
	put_sequence(&t, 0);
	put_sequence(&t, 0x1000);
	put_sequence(&t, 0x1004); /* over the one before */
	load(&l, &t);
	assert_int_equal(l.nr_rows, 4);
	check_sequence(&l, 0x1000);
	dwarf_lines_release(&l);
}

static void a_sequence_without_an_end_is_none(void **state)
{
	struct dwarf_lines l;
	struct table t;

	begin(&t, 4);
	put_old_names(&t);
	put_sequence(&t, 0x1000);
	put_address(&t, 0x3000);
	PUT(&t, 1);
	load(&l, &t);
	check_sequence(&l, 0x1000);
	check_line(&l, 0x3000, 0, 0);
	dwarf_lines_release(&l);
}

/* Whatever byte is missing or wrong: no crash (sanitizers watch), rows that ascend. */
static void broken_tables_hurt_nobody(void **state)
{
	for (uint8_t version = 2; version <= 5; version++) {
		struct dwarf_lines l;
		struct table t;

		begin(&t, version);
		if (version < 5)
			put_old_names(&t);
		else
			put_new_names(&t);
		put_sequence(&t, 0x1000);
		set_u32(&t, 0, t.len - 4);
		for (size_t i = 0; i < t.len * 256; i++) {
			struct dwarf_line_sections s = { .line_sz = t.len };
			uint8_t *copy = malloc(t.len);

			memcpy(copy, t.bytes, t.len);
			copy[i / 256] = i;
			s.line = copy;
			s.line_sz = i % 256 ? t.len : i / 256;
			dwarf_lines_load(&l, &s, 0);
			for (size_t r = 1; r < l.nr_rows; r++)
				assert_true(l.rows[r - 1].address <= l.rows[r].address);
			for (size_t f = 0; f < l.nr_files; f++)
				free(dwarf_lines_path(&l, f, NULL));
			dwarf_lines_release(&l);
			free(copy);
		}
	}
}

/* Sequences that were complete by then are known. */
static void a_long_program_ends_with_its_time(void **state)
{
	enum { STEPS = 40000 };
	struct dwarf_line_sections s = {};
	struct dwarf_lines l;
	struct table t, last = {};
	uint8_t *bytes;

	begin(&t, 4);
	put_old_names(&t);
	put_sequence(&t, 0x1000);
	put_sequence(&last, 0x2000);
	s.line_sz = t.len + STEPS + last.len;
	set_u32(&t, 0, s.line_sz - 4);
	s.line = bytes = malloc(s.line_sz);
	memcpy(bytes, t.bytes, t.len);
	memset(bytes + t.len, 6, STEPS); /* nothing is done */
	memcpy(bytes + t.len + STEPS, last.bytes, last.len);
	for (s.deadline_ns = 0; s.deadline_ns < 2; s.deadline_ns++) {
		dwarf_lines_load(&l, &s, 0);
		check_sequence(&l, 0x1000);
		check_line(&l, 0x2000, s.deadline_ns ? 0 : 1, s.deadline_ns ? 0 : 10);
		dwarf_lines_release(&l);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_versions_say_the_same),
		cmocka_unit_test(dropped_code_has_no_lines),
		cmocka_unit_test(a_sequence_without_an_end_is_none),
		cmocka_unit_test(broken_tables_hurt_nobody),
		cmocka_unit_test(a_long_program_ends_with_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
