/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which source of names is asked, when it is opened, and how often the kernel is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/source.h"

static char dir[] = "/tmp/bpfprof-source.XXXXXX";

/* A library with a name that it exports and one that it keeps. */
static const char script[] =
	"cd %s && mkdir -p debug/.build-id/ab && "
	"printf 'static int __attribute__((noinline)) kept(int x) { return x * x + 1; }"
	"int exported(int x) { return kept(x) + kept(x + 1); }' > lib.c && "
	"cc -O1 -g -shared -fPIC -Wl,--build-id=0xabcdef lib.c -o full && "
	"nm full | awk '$3 == \"kept\" || $3 == \"exported\" { print $3, $1 }' > names && "
	"strip -o stripped full && objcopy --only-keep-debug full debug/.build-id/ab/cdef.debug && "
	"cp debug/.build-id/ab/cdef.debug kept.debug && "
	"objcopy --remove-section=.note.gnu.build-id --add-gnu-debuglink=kept.debug stripped "
	"linked && sed s/kept.debug/mock.debug/ linked > forged && mkdir .debug && "
	"(cat kept.debug && echo more) > .debug/mock.debug && "
	"objcopy -S --remove-section=.comment --keep-symbol=kept kept.debug mini && xz mini && "
	"objcopy --add-section=.gnu_debugdata=mini.xz stripped mini && "
	"head -c 150 mini.xz > cut.xz && objcopy --add-section=.gnu_debugdata=cut.xz stripped cut";

static uint64_t kept, exported; /* offsets in the file */

static int group_setup(void **state)
{
	char command[1024], name[16];
	unsigned long at;
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	snprintf(command, sizeof(command), script, dir);
	if (system(command))
		return -1;
	snprintf(command, sizeof(command), "%s/names", dir);
	f = fopen(command, "r");
	while (f && fscanf(f, "%15s %lx", name, &at) == 2)
		*(name[0] == 'k' ? &kept : &exported) = at;
	fclose(f);
	return kept && exported ? 0 : -1;
}

static int group_teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

struct fixture {
	int fd;
	struct elf_file *file;
	struct debug_files debug;
	struct symbol_module module;
	struct symbol_sources sources;
	struct symbol_found found;
};

static void begin(struct fixture *f, const char *name, bool debug)
{
	char path[64], debug_dir[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(debug_dir, sizeof(debug_dir), "%s/debug", dir);
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	f->file = elf_file_open(f->fd);
	assert_non_null(f->file);
	debug_files_open(&f->debug, f->file, path, debug ? debug_dir : NULL);
	f->module = (struct symbol_module){
		.kind = FRAME_USER, .path = name, .file = f->file, .debug_files = &f->debug
	};
	symbol_sources_open(&f->sources, &f->module);
}

static void end(struct fixture *f)
{
	symbol_sources_close(&f->sources);
	debug_files_close(&f->debug);
	elf_file_close(f->file);
	close(f->fd);
}

static void check(const char *name, bool debug, const struct symbol_source_ops *ops,
		  const char *of_kept)
{
	struct fixture f;
	bool known;

	begin(&f, name, debug);
	assert_true(symbol_sources_find(&f.sources, exported, &f.found));
	assert_int_equal(f.found.nr, 1);
	assert_string_equal(f.found.chain[0].name, "exported");
	assert_ptr_equal(f.sources.groups[SYMBOL_NAMES].ops, ops);
	known = symbol_sources_find(&f.sources, kept, &f.found);
	assert_true(known);
	assert_int_equal(f.found.nr, of_kept ? 1 : 0);
	if (of_kept)
		assert_string_equal(f.found.chain[0].name, of_kept);
	end(&f);
}

static void the_best_source_of_a_group_is_the_one_asked(void **state)
{
	check("full", false, &symbol_source_symtab, "kept");
	check("full", true, &symbol_source_symtab, "kept");
	check("stripped", true, &symbol_source_debug_file, "kept");
	check("stripped", false, &symbol_source_dynsym, NULL);
}

/* By its name; one that has another checksum, as after an update, is left alone. */
static void a_debug_file_is_found_by_its_link(void **state)
{
	check("linked", true, &symbol_source_debug_file, "kept");
	check("linked", false, &symbol_source_dynsym, NULL);
	check("forged", true, &symbol_source_dynsym, NULL);
}

static const char *name_in(const char *name, uint64_t address)
{
	static char known[64];
	struct fixture f;

	begin(&f, name, false);
	symbol_sources_find(&f.sources, address, &f.found);
	snprintf(known, sizeof(known), "%s", f.found.nr ? f.found.chain[0].name : "");
	end(&f);
	return known;
}

/* Symbols that .dynsym lacks, packed into the file; one that was cut says nothing. */
static void a_file_may_have_its_symbols_packed(void **state)
{
	assert_string_equal(name_in("mini", kept), "kept");
	assert_string_equal(name_in("mini", exported), "exported");
	assert_string_equal(name_in("cut", kept), "");
	assert_string_equal(name_in("cut", exported), "exported");
}

static void starts_are_asked_for_what_has_no_name(void **state)
{
	struct fixture f;

	begin(&f, "stripped", false);
	assert_false(f.sources.groups[SYMBOL_NAMES].tried);
	assert_true(symbol_sources_find(&f.sources, exported + 1, &f.found));
	assert_true(f.sources.groups[SYMBOL_NAMES].tried);
	assert_false(f.sources.groups[SYMBOL_STARTS].tried);
	assert_true(symbol_sources_find(&f.sources, kept + 1, &f.found));
	assert_true(f.sources.groups[SYMBOL_STARTS].tried);
	assert_int_equal(f.found.nr, 0);
	assert_int_equal(f.found.start, kept);
	assert_int_equal(f.found.next, exported);
	assert_false(symbol_sources_find(&f.sources, 1u << 30, &f.found));
	assert_int_equal(f.found.nr, 0);
	assert_int_equal(f.found.start, 0);
	end(&f);
}

static void what_no_source_knows_stays_empty(void **state)
{
	static const enum frame_kind kinds[] = { FRAME_KERNEL, FRAME_ANON, FRAME_UNKNOWN };
	struct symbol_found found = { .nr = 7 };
	struct symbol_sources sources;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct symbol_module m = { .kind = kinds[i], .path = "" };

		symbol_sources_open(&sources, &m);
		assert_false(symbol_sources_find(&sources, 0x1000, &found));
		assert_int_equal(found.nr, 0);
		symbol_sources_close(&sources);
	}
}

/* --- the kernel --- */

#define NR_ADDRESSES (2 * PROF_KSYM_BATCH + 22)

struct asked {
	size_t calls, nr;
};

static int ask(void *arg, struct prof_ksym *questions, size_t nr)
{
	struct asked *a = arg;

	assert_in_range(nr, 1, PROF_KSYM_BATCH);
	for (size_t i = 0; i < nr; i++)
		snprintf(questions[i].text, sizeof(questions[i].text), "f%" PRIu64 "+0x1/0x8 [mod]",
			 (uint64_t)questions[i].addr);
	a->calls++;
	a->nr += nr;
	return 0;
}

static void the_kernel_is_asked_by_the_batch(void **state)
{
	struct asked asked = {};
	struct symbol_kernel kernel = { ask, &asked };
	uint64_t addresses[NR_ADDRESSES];
	struct symbol_module m = { .kind = FRAME_KERNEL,
				   .path = "",
				   .kernel = &kernel,
				   .addresses = addresses,
				   .nr = NR_ADDRESSES };
	struct symbol_sources sources;
	struct symbol_found found;
	char name[16];

	for (size_t i = 0; i < NR_ADDRESSES; i++)
		addresses[i] = 100 + i;
	symbol_sources_open(&sources, &m);
	for (size_t i = 0; i < 2 * NR_ADDRESSES; i++) { /* each one twice */
		assert_true(symbol_sources_find(&sources, addresses[i / 2], &found));
		snprintf(name, sizeof(name), "f%zu", 100 + i / 2);
		assert_string_equal(found.chain[0].name, name);
		assert_string_equal(found.module, "[mod]");
		assert_int_equal(found.offset, 1);
	}
	assert_false(symbol_sources_find(&sources, 99, &found));
	symbol_sources_close(&sources);
	assert_int_equal(asked.calls, 3);
	assert_int_equal(asked.nr, NR_ADDRESSES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_source_of_a_group_is_the_one_asked),
		cmocka_unit_test(a_debug_file_is_found_by_its_link),
		cmocka_unit_test(a_file_may_have_its_symbols_packed),
		cmocka_unit_test(starts_are_asked_for_what_has_no_name),
		cmocka_unit_test(what_no_source_knows_stays_empty),
		cmocka_unit_test(the_kernel_is_asked_by_the_batch),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
