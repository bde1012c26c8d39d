/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inlined calls and lines of a small program in all forms in which DWARF comes. Labels of the
 * assembler mark the places whose answer is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "symbol/debug_image.h"
#include "symbol/source.h"

static char dir[] = "/tmp/bpfprof-dwarf.XXXXXX";

static const char program[] =
	"#define MARK(name) __asm__ volatile(\".globl \" name \"\\n\" name \": nop\")\n" /* 1 */
	"volatile int sink;\n"								 /* 2 */
	"static inline __attribute__((always_inline)) void inner(void)\n"		 /* 3 */
	"{\n"										 /* 4 */
	"	MARK(\"at_inner\"); sink++;\n"						 /* 5 */
	"}\n"										 /* 6 */
	"static inline __attribute__((always_inline)) void middle(void)\n"		 /* 7 */
	"{\n"										 /* 8 */
	"	sink--;\n"								 /* 9 */
	"	inner();\n"								 /* 10 */
	"}\n"										 /* 11 */
	"__attribute__((noinline)) void outer(void)\n"					 /* 12 */
	"{\n"										 /* 13 */
	"	MARK(\"at_outer\"); sink += 2;\n"					 /* 14 */
	"	middle();\n"								 /* 15 */
	"	sink += 3;\n"								 /* 16 */
	"}\n"										 /* 17 */
	"__attribute__((noinline)) void renamed(void) __asm__(\"linked_as\");\n"	 /* 18 */
	"void renamed(void) { MARK(\"at_renamed\"); sink++; }\n"			 /* 19 */
	"int main(void) { outer(); renamed(); return sink; }\n";			 /* 20 */

/* A program in assembly has lines and no functions. */
static const char assembly[] = ".globl in_asm\n.type in_asm, @function\nin_asm:\n nop\n ret\n"
			       ".size in_asm, .-in_asm\n.section .note.GNU-stack\n";

static const char *const builds[] = {
	"-gdwarf-5",
	"-gdwarf-4",
	"-gdwarf-3",
	"-gdwarf-5 -gsplit-dwarf",
	"-gdwarf-4 -gsplit-dwarf",
	"-gdwarf-5 -gz",
	"-gdwarf-5 -fdebug-types-section",
};
#define NR_BUILDS (sizeof(builds) / sizeof(*builds))

static void write_text(const char *name, const char *text)
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
	write_text("p.c", program);
	write_text("a.s", assembly);
	for (size_t i = 0; i < NR_BUILDS; i++) {
		snprintf(command, sizeof(command),
			 "cd %s && cc -O2 %s -c p.c -o p%zu.o && cc -gdwarf-4 -c a.s -o a.o && "
			 "cc -Wl,--build-id p%zu.o a.o -o p%zu && nm p%zu > p%zu.nm",
			 dir, builds[i], i, i, i, i, i);
		if (system(command))
			return -1;
	}
	return 0;
}

static int group_teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

struct opened {
	char path[128]; /* as long as the module, which has it */
	int fd;
	struct elf_file *file;
	uint64_t addresses[4]; /* in the file, ascending */
	struct debug_files debug;
	struct symbol_lines lines;
	struct symbol_module module;
	struct symbol_sources sources;
};

static uint64_t address_of(const char *program_name, const char *symbol)
{
	char path[128], name[64];
	unsigned long at, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.nm", dir, program_name);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fscanf(f, "%*[^0-9a-f]") >= 0 && fscanf(f, "%lx %*c %63s", &at, name) >= 1)
		if (!strcmp(name, symbol))
			found = at;
	fclose(f);
	assert_int_not_equal(found, 0);
	return found;
}

static const char *const places[] = { "at_inner", "at_outer", "at_renamed", "in_asm" };

static int ascending(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* path is of the file itself, name of the program that has the same code. */
static void open_path(struct opened *o, const char *path, const char *name)
{
	*o = (struct opened){ .lines = { .deadline_ns = now_ns() + 60000000000ull,
					 .cache_dir = -1 } };
	snprintf(o->path, sizeof(o->path), "%s", path);
	o->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(o->fd >= 0);
	o->file = elf_file_open(o->fd);
	assert_non_null(o->file);
	for (size_t i = 0; i < 4; i++)
		assert_true(
			elf_file_offset(o->file, address_of(name, places[i]), &o->addresses[i]));
	qsort(o->addresses, 4, sizeof(*o->addresses), ascending);
	debug_files_open(&o->debug, o->file, path, dir);
	o->module = (struct symbol_module){ .kind = FRAME_USER,
					    .path = o->path,
					    .file = o->file,
					    .debug_files = &o->debug,
					    .lines = &o->lines,
					    .addresses = o->addresses,
					    .nr = 4 };
	symbol_sources_open(&o->sources, &o->module);
}

static void open_program(struct opened *o, size_t i)
{
	char name[16], path[128];

	snprintf(name, sizeof(name), "p%zu", i);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	open_path(o, path, name);
}

static void close_program(struct opened *o)
{
	symbol_sources_close(&o->sources);
	debug_files_close(&o->debug);
	elf_file_close(o->file);
	close(o->fd);
}

/* lines: of each function, innermost first, 0 behind the last. */
static void check(struct opened *o, const char *name, const char *place,
		  const char *const *functions, const uint32_t *lines)
{
	struct symbol_found found;
	char path[128];
	uint64_t offset;

	snprintf(path, sizeof(path), "%s/%s", dir, !strcmp(place, "in_asm") ? "a.s" : "p.c");
	assert_true(elf_file_offset(o->file, address_of(name, place), &offset));
	assert_true(symbol_sources_find(&o->sources, offset, &found));
	for (size_t i = 0; i < found.nr; i++) {
		assert_string_equal(found.chain[i].name, functions[i]);
		assert_int_equal(found.chain[i].line, lines[i]);
		assert_non_null(found.chain[i].file);
		assert_string_equal(found.chain[i].file, path);
	}
	assert_int_equal(lines[found.nr], 0);
}

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define LINES(...) ((const uint32_t[]){ __VA_ARGS__, 0 })

static void check_all(struct opened *o, const char *name)
{
	check(o, name, "at_inner", NAMES("inner", "middle", "outer"), LINES(5, 10, 15));
	check(o, name, "at_outer", NAMES("outer"), LINES(14));
	check(o, name, "at_renamed", NAMES("linked_as"), LINES(19));
	check(o, name, "in_asm", NAMES("in_asm"), LINES(4));
}

static void every_form_says_the_same(void **state)
{
	struct opened o;
	char name[16];

	for (size_t i = 0; i < NR_BUILDS; i++) {
		snprintf(name, sizeof(name), "p%zu", i);
		open_program(&o, i);
		check_all(&o, name);
		assert_int_equal(o.lines.nr_late, 0);
		close_program(&o);
	}
}

static void the_debug_file_has_it_too(void **state)
{
	char command[512], path[128];
	struct opened o;

	snprintf(command, sizeof(command),
		 "cd %s && objcopy --only-keep-debug p0 p0.debug && cp p0.nm s0.nm && "
		 "objcopy --strip-all --add-gnu-debuglink=p0.debug p0 s0",
		 dir);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/s0", dir);
	open_path(&o, path, "s0");
	check_all(&o, "s0");
	close_program(&o);
}

static void without_inlines_the_function_is_where_it_calls(void **state)
{
	struct opened o;

	open_program(&o, 0);
	o.lines.no_inline = true;
	check(&o, "p0", "at_inner", NAMES("outer"), LINES(15));
	check(&o, "p0", "at_outer", NAMES("outer"), LINES(14));
	close_program(&o);
}

static void what_is_late_keeps_its_name(void **state)
{
	struct symbol_found found;
	struct opened o;
	uint64_t offset;

	open_program(&o, 0);
	o.lines.deadline_ns = now_ns() - 1;
	assert_true(elf_file_offset(o.file, address_of("p0", "outer"), &offset));
	assert_true(symbol_sources_find(&o.sources, offset, &found));
	assert_int_equal(found.nr, 1);
	assert_string_equal(found.chain[0].name, "outer");
	assert_null(found.chain[0].file);
	assert_int_equal(o.lines.nr_late, 4);
	close_program(&o);
}

/* A split unit whose other half is a pipe, which would keep who opens it waiting, or gone. */
static void a_split_unit_may_lead_anywhere(void **state)
{
	char path[128];
	struct symbol_found found;
	struct opened o;
	uint64_t offset;

	snprintf(path, sizeof(path), "%s/p3.dwo", dir);
	for (int gone = 1; gone >= 0; gone--) {
		unlink(path);
		if (!gone)
			assert_int_equal(mkfifo(path, 0600), 0);
		open_program(&o, 3);
		assert_true(elf_file_offset(o.file, address_of("p3", "at_outer"), &offset));
		assert_true(symbol_sources_find(&o.sources, offset, &found));
		assert_int_equal(found.nr, 1);
		assert_int_equal(found.chain[0].line, 14);
		assert_int_equal(o.lines.missing.nr_dwo, 1);
		assert_string_equal(o.lines.missing.dwo, path);
		close_program(&o);
	}
}

/* --- packages --- */

/*
 * Of the builds that are split, 3 and 4; false: there is nobody who packs. That of binutils 2.40
 * knows no version 5, that of LLVM 14 does not end on some files.
 */
static bool pack(size_t build, const char *to)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && rm -f *.dwo && cc -O2 %s -c p.c -o p%zu.o && "
		 "timeout 2 %s p%zu.dwo -o %s && rm *.dwo",
		 dir, builds[build], build, build == 3 ? "llvm-dwp" : "dwp", build, to);
	return !system(command);
}

static void run(const char *text)
{
	char command[512];

	snprintf(command, sizeof(command), "cd %s && %s", dir, text);
	assert_int_equal(system(command), 0);
}

static void packages_have_split_units(void **state)
{
	struct opened o;
	char text[256], name[16];

	for (size_t i = 3; i <= 4; i++) {
		snprintf(name, sizeof(name), "p%zu", i);
		snprintf(text, sizeof(text), "%s.dwp", name);
		if (!pack(i, text))
			continue;
		open_program(&o, i);
		check_all(&o, name);
		assert_int_equal(o.lines.missing.nr_dwo, 0);
		close_program(&o);
	}
	if (!pack(4, "p4.dwp"))
		skip();
	/* By build-id, below the folder that this test gives. */
	run("id=$(readelf -n p4 | awk '/Build ID/ { print $3 }') && "
	    "mkdir -p .build-id/$(echo $id | cut -c 1-2) && "
	    "mv p4.dwp .build-id/$(echo $id | cut -c 1-2)/$(echo $id | cut -c 3-).dwp");
	open_program(&o, 4);
	check_all(&o, "p4");
	close_program(&o);
	run("rm -r .build-id");
}

static uint8_t *read_all_of(const char *name, size_t *sz)
{
	static uint8_t bytes[65536];
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	*sz = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	return bytes;
}

static void write_bytes(const char *name, const uint8_t *bytes, size_t sz)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, sz, f), sz);
	fclose(f);
}

/* Whatever a package says, there is an answer. */
static void ask_outer(size_t i)
{
	struct symbol_found found;
	struct opened o;
	uint64_t offset;
	char name[16];

	snprintf(name, sizeof(name), "p%zu", i);
	open_program(&o, i);
	assert_true(elf_file_offset(o.file, address_of(name, "outer"), &offset));
	assert_true(symbol_sources_find(&o.sources, offset, &found));
	assert_true(*found.chain[found.nr - 1].name);
	close_program(&o);
}

static void broken_packages_cost_their_units_only(void **state)
{
	char name[16];
	uint8_t *bytes;
	size_t sz;

	srand(7);
	for (size_t i = 3; i <= 4; i++) {
		snprintf(name, sizeof(name), "p%zu.dwp", i);
		if (!pack(i, name))
			continue;
		bytes = read_all_of(name, &sz);
		for (size_t k = 1; k < 40; k++) {
			write_bytes(name, bytes, sz * k / 40);
			ask_outer(i);
		}
		for (size_t k = 0; k < 800; k++) {
			size_t at = rand() % sz;
			uint8_t was = bytes[at];

			bytes[at] = k & 1 ? rand() : 0xff;
			write_bytes(name, bytes, sz);
			ask_outer(i);
			bytes[at] = was;
		}
	}
}

/* Puts 900 MB of zeros, packed, in the place of .debug_info. */
static const char make_bomb[] =
	"import struct, subprocess, sys, zlib\n"
	"z = zlib.compressobj(9)\n"
	"parts = [z.compress(bytes(1 << 20)) for _ in range(900)] + [z.flush()]\n"
	"with open('info', 'wb') as f:\n"
	"    f.write(struct.pack('<IIQQ', 1, 0, 900 << 20, 1) + b''.join(parts))\n"
	"subprocess.run(['objcopy', '--update-section', '.debug_info=info', 'p0', 'bomb'],\n"
	"               check=True)\n"
	"image = bytearray(open('bomb', 'rb').read())\n"
	"at, = struct.unpack_from('<Q', image, 40)\n"
	"size, nr, names = struct.unpack_from('<HHH', image, 58)\n"
	"strings, = struct.unpack_from('<Q', image, at + names * size + 24)\n"
	"for i in range(nr):\n"
	"    name, = struct.unpack_from('<I', image, at + i * size)\n"
	"    if image[strings + name:].startswith(b'.debug_info\\0'):\n"
	"        struct.pack_into('<Q', image, at + i * size + 8, 0x800)\n"
	"open('bomb', 'wb').write(image)\n";

/* Unpacked it would take seconds and a gigabyte. */
static void what_costs_too_much_is_left_out(void **state)
{
	char command[256], path[128];
	struct symbol_found found;
	struct opened o;
	uint64_t offset, begin_ns;

	write_text("bomb.py", make_bomb);
	snprintf(command, sizeof(command), "cd %s && cp p0.nm bomb.nm && python3 bomb.py", dir);
	if (system(command))
		skip();
	snprintf(path, sizeof(path), "%s/bomb", dir);
	open_path(&o, path, "bomb");
	assert_true(elf_file_offset(o.file, address_of("bomb", "outer"), &offset));
	begin_ns = now_ns();
	assert_true(symbol_sources_find(&o.sources, offset, &found));
	assert_true(now_ns() - begin_ns < 200000000);
	assert_string_equal(found.chain[0].name, "outer");
	assert_int_equal(o.lines.missing.unread, DEBUG_IMAGE_LARGE);
	assert_int_equal(o.lines.nr_late, 0); /* not for want of time */
	close_program(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_says_the_same),
		cmocka_unit_test(the_debug_file_has_it_too),
		cmocka_unit_test(without_inlines_the_function_is_where_it_calls),
		cmocka_unit_test(what_is_late_keeps_its_name),
		cmocka_unit_test(what_costs_too_much_is_left_out),
		cmocka_unit_test(a_split_unit_may_lead_anywhere),
		cmocka_unit_test(packages_have_split_units),
		cmocka_unit_test(broken_packages_cost_their_units_only),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
