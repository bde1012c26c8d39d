/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What perf maps and jitdump files say of addresses, also where they were made to hurt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/jit_names.h"

static const uint64_t addresses[] = { 0x1000, 0x1010, 0x1fff, 0x2000, 0x5000, 0x7f0000001234 };

#define NR (sizeof(addresses) / sizeof(*addresses))

static struct jit_names names;
static int fd;

static int setup(void **state)
{
	fd = memfd_create("jit", 0);
	jit_names_init(&names, addresses, NR);
	return 0;
}

static int teardown(void **state)
{
	jit_names_release(&names);
	close(fd);
	return 0;
}

static void put(const void *bytes, size_t nr)
{
	assert_int_equal(write(fd, bytes, nr), nr);
}

static size_t map(const char *text)
{
	put(text, strlen(text));
	return jit_map_read(&names, fd);
}

static void assert_name(uint64_t address, const char *name)
{
	const struct jit_name *known = jit_names_at(&names, address);
	char text[JIT_NAME_MAX + 1];

	if (!name) {
		assert_null(known);
		return;
	}
	assert_non_null(known);
	assert_true(jit_text_read(known->fd, &known->name, text, sizeof(text)));
	assert_string_equal(text, name);
}

static void assert_place(uint64_t address, const char *file, uint32_t line)
{
	const struct jit_name *known = jit_names_at(&names, address);
	char text[JIT_NAME_MAX + 1];

	assert_non_null(known);
	assert_int_equal(known->line, line);
	assert_int_equal(!known->file.len, !file);
	if (!file)
		return;
	assert_true(jit_text_read(known->fd, &known->file, text, sizeof(text)));
	assert_string_equal(text, file);
}

static void names_of_a_map(void **state)
{
	assert_int_equal(map("1000 20 first thing\n0x2000 0x1 void Burn.fib(int)\n"
			     "7F0000001200 100 JS:*fib /srv/a b.js:12:3\n"),
			 3);
	assert_name(0x1000, "first thing");
	assert_name(0x1010, "first thing");
	assert_name(0x1fff, NULL);
	assert_name(0x2000, "void Burn.fib(int)");
	assert_place(0x2000, NULL, 0);
	assert_name(0x7f0000001234, "JS:*fib /srv/a b.js:12:3");
	assert_place(0x7f0000001234, "b.js", 12);
	assert_name(0x1234, NULL); /* was never asked for */
}

static void the_last_one_that_lay_there_wins(void **state)
{
	map("1000 1000 old\n1010 10 new\n");
	assert_name(0x1000, "old");
	assert_name(0x1010, "new");
	assert_name(0x1fff, "old");
}

static void lines_that_are_none(void **state)
{
	assert_int_equal(map("\n1000\n1000 \n1000 10\n1000 10 \n1000 0 empty\n0 10 zero\n"
			     "x 10 y\n11112222333344445 10 long\n1000 10 rest of a line"),
			 0);
	for (size_t i = 0; i < NR; i++)
		assert_name(addresses[i], NULL);
	assert_int_equal(map("\n1000 10 whole\n"), 2);
	assert_name(0x1000, "whole");
}

static void a_size_that_wraps(void **state)
{
	map("2000 ffffffffffffffff rest\n");
	assert_name(0x1000, NULL);
	assert_name(0x7f0000001234, "rest");
}

static void a_name_longer_than_the_buffer(void **state)
{
	char *name = malloc(200001), shown[JIT_NAME_MAX + 1];

	memset(name, 'n', 200000);
	name[200000] = '\0';
	put("1000 10 ", 8);
	put(name, 200000);
	assert_int_equal(map("\n2000 10 next\n"), 2);
	memset(shown, 'n', JIT_NAME_MAX);
	shown[JIT_NAME_MAX] = '\0';
	assert_name(0x1000, shown);
	assert_name(0x2000, "next");
	free(name);
}

/* The same addresses told again and again cost a bounded time. */
static void a_budget_of_names(void **state)
{
	char line[] = "1 ffffffffffff all\n";

	names.budget = 100;
	for (int i = 0; i < 50; i++)
		put(line, strlen(line));
	jit_map_read(&names, fd);
	assert_int_equal(names.budget, 100 % NR);
}

struct head {
	uint32_t id, size;
	uint64_t time;
};

static void begin_dump(void)
{
	const uint32_t header[] = { 0x4A695444, 1, 40, 62, 0, 1, 0, 0, 0, 0 };

	put(header, sizeof(header));
}

static void load(uint64_t address, uint64_t size, uint64_t index, const char *name)
{
	const uint64_t body[] = { 1 | 1ull << 32, address, address, size, index };
	struct head h = { 0, sizeof(h) + sizeof(body) + strlen(name) + 1 + 4, 0 };

	put(&h, sizeof(h));
	put(body, sizeof(body));
	put(name, strlen(name) + 1);
	put("\xc3\xc3\xc3\xc3", 4); /* of the code */
}

static void lines(uint64_t code, const uint64_t *at, const uint32_t *line, const char *const *file,
		  size_t nr)
{
	uint64_t body[] = { code, nr };
	struct head h = { 2, sizeof(h) + sizeof(body), 0 };

	for (size_t i = 0; i < nr; i++)
		h.size += 16 + strlen(file[i]) + 1;
	put(&h, sizeof(h));
	put(body, sizeof(body));
	for (size_t i = 0; i < nr; i++) {
		const uint32_t rest[] = { line[i], 0 };

		put(&at[i], 8);
		put(rest, 8);
		put(file[i], strlen(file[i]) + 1);
	}
}

static void names_and_lines_of_a_dump(void **state)
{
	const uint64_t at[] = { 0x1000, 0x1010, 0x1011 };
	const uint32_t line[] = { 7, 8, 9 };
	const char *const file[] = { "a.js", "\xff", "c.js" };

	begin_dump();
	lines(0x1000, at, line, file, 3);
	load(0x1000, 0x100, 1, "hot");
	load(0x2000, 0x100, 2, "cold");
	assert_int_equal(jit_dump_read(&names, fd), 2);
	assert_name(0x1000, "hot");
	assert_place(0x1000, "a.js", 7);
	assert_place(0x1010, "a.js", 8);
	assert_name(0x2000, "cold");
	assert_place(0x2000, NULL, 0);
}

/* V8 tells where lines will be behind an ELF header. */
static void lines_behind_a_header(void **state)
{
	const uint64_t at[] = { 0x1040, 0x1050, 0x1051 };
	const uint32_t line[] = { 7, 8, 9 };
	const char *const file[] = { "a.js", "a.js", "a.js" };

	begin_dump();
	lines(0x1000, at, line, file, 3);
	load(0x1000, 0x100, 1, "hot");
	jit_dump_read(&names, fd);
	assert_place(0x1000, "a.js", 7);
	assert_place(0x1010, "a.js", 8);
}

static void code_that_moved(void **state)
{
	const uint64_t move[] = { 1, 0x1000, 0x1000, 0x5000, 0x100, 1 };
	const uint64_t unknown[] = { 1, 0x1000, 0x1000, 0x2000, 0x100, 77 };
	struct head h = { 1, sizeof(h) + sizeof(move), 0 };

	begin_dump();
	load(0x1000, 0x100, 1, "moves");
	put(&h, sizeof(h));
	put(move, sizeof(move));
	put(&h, sizeof(h));
	put(unknown, sizeof(unknown));
	jit_dump_read(&names, fd);
	assert_name(0x5000, "moves");
	assert_name(0x2000, NULL);
}

static void dumps_that_are_none(void **state)
{
	struct head empty = { 0, 0, 0 }, huge = { 0, UINT32_MAX, 0 };

	assert_int_equal(jit_dump_read(&names, fd), 0);
	put("JiTD", 4);
	assert_int_equal(jit_dump_read(&names, fd), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	lseek(fd, 0, SEEK_SET);
	begin_dump();
	put(&empty, sizeof(empty));
	assert_int_equal(jit_dump_read(&names, fd), 0);
	assert_int_equal(ftruncate(fd, 40), 0);
	lseek(fd, 40, SEEK_SET);
	put(&huge, sizeof(huge));
	put("short", 5);
	assert_int_equal(jit_dump_read(&names, fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_of_a_map, setup, teardown),
		cmocka_unit_test_setup_teardown(the_last_one_that_lay_there_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_that_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(a_size_that_wraps, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_longer_than_the_buffer, setup, teardown),
		cmocka_unit_test_setup_teardown(a_budget_of_names, setup, teardown),
		cmocka_unit_test_setup_teardown(names_and_lines_of_a_dump, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_behind_a_header, setup, teardown),
		cmocka_unit_test_setup_teardown(code_that_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(dumps_that_are_none, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
