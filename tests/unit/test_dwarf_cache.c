/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is kept of DWARF: answers as without, whatever stands in the folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "symbol/cache_dir.h"
#include "symbol/source.h"

static char dir[] = "/tmp/bpfprof-cache.XXXXXX";
static char folder[64];
static uint64_t addresses[2]; /* of f and g, in the file */

static const char script[] =
	"cd %s && printf 'volatile int x;\\n"
	"static inline __attribute__((always_inline)) void deep(void)\\n{ x++; }\\n"
	"__attribute__((noinline)) void f(void)\\n{\\ndeep();\\n}\\n"
	"__attribute__((noinline)) void g(void)\\n{\\nx--;\\n}\\n"
	"int main(void) { f(); g(); return x; }' > p.c && "
	"cc -O2 -g -no-pie -Wl,--build-id p.c -o p && cp p other && "
	"nm p | awk '$3 == \"f\" || $3 == \"g\" { print $3, $1 }' > names";

static int group_setup(void **state)
{
	char command[1024], name[16];
	unsigned long at;
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	snprintf(folder, sizeof(folder), "%s/cache", dir);
	snprintf(command, sizeof(command), script, dir);
	if (system(command))
		return -1;
	snprintf(command, sizeof(command), "%s/names", dir);
	f = fopen(command, "r");
	while (f && fscanf(f, "%15s %lx", name, &at) == 2)
		addresses[*name == 'g'] = at - 0x400000;
	fclose(f);
	return addresses[0] && addresses[0] < addresses[1] ? 0 : -1;
}

static int group_teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* The chains of f and g as one text; cache: the folder, -1 = without. */
static void look(const char *name, int cache, char *text, size_t sz)
{
	struct symbol_lines lines = { .deadline_ns = now_ns() + 60000000000ull,
				      .cache_dir = cache };
	struct symbol_module m = {
		.kind = FRAME_USER, .path = name, .lines = &lines, .addresses = addresses, .nr = 2
	};
	struct symbol_sources sources;
	struct symbol_found found;
	struct elf_file *file;
	char path[128];
	size_t len = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	file = elf_file_open(fd);
	assert_non_null(file);
	m.file = file;
	symbol_sources_open(&sources, &m);
	for (size_t i = 0; i < 2; i++) {
		assert_true(symbol_sources_find(&sources, addresses[i], &found));
		for (size_t k = 0; k < found.nr; k++)
			len += snprintf(text + len, sz - len, "%s:%u ", found.chain[k].name,
					found.chain[k].line);
	}
	symbol_sources_close(&sources);
	elf_file_close(file);
	close(fd);
}

static const char *kept_name(int cache)
{
	static char name[512];
	const struct dirent *e;
	DIR *d = opendir(folder);

	*name = '\0';
	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			snprintf(name, sizeof(name), "%s/%s", folder, e->d_name);
	closedir(d);
	return *name ? name : NULL;
}

#define EXPECTED "deep:3 f:6 g:10 "

static void check(const char *name, int cache)
{
	char text[256];

	look(name, cache, text, sizeof(text));
	assert_string_equal(text, EXPECTED);
}

static void what_is_kept_says_the_same(void **state)
{
	int cache = cache_dir_open_at(folder);
	struct stat st;

	assert_true(cache >= 0);
	check("p", cache);
	assert_non_null(kept_name(cache));
	assert_int_equal(stat(kept_name(cache), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	check("p", cache);
	close(cache);
}

/* With what is kept of another program in its place, that is what it says. */
static void what_is_kept_is_read(void **state)
{
	int cache = cache_dir_open_at(folder);
	char command[1024], text[256], path[512];

	check("p", cache);
	snprintf(path, sizeof(path), "%s", kept_name(cache));
	snprintf(command, sizeof(command), "cd %s && sed s/deep/DEEP/ p > q && mv %s kept", dir,
		 path);
	assert_int_equal(system(command), 0);
	look("q", cache, text, sizeof(text));
	assert_int_equal(rename(kept_name(cache), path), 0);
	look("p", cache, text, sizeof(text));
	assert_string_equal(text, "DEEP:3 f:6 g:10 ");
	assert_int_equal(unlink(path), 0);
	check("p", cache);
	close(cache);
}

/* Each byte in turn is another one: the answer is right, and the file is made again. */
static void broken_files_are_made_again(void **state)
{
	int cache = cache_dir_open_at(folder);
	char path[512];
	struct stat st;

	check("p", cache);
	snprintf(path, sizeof(path), "%s", kept_name(cache));
	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at += 1 + at % 3) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		uint8_t byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 1 << at % 8;
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		close(fd);
		check("p", cache);
	}
	assert_int_equal(truncate(path, st.st_size / 2), 0);
	check("p", cache);
	assert_int_equal(stat(path, &st), 0);
	close(cache);
}

/* The same build-id and size: what a program that is made to hurt would have. */
static void another_file_is_not_believed(void **state)
{
	int cache = cache_dir_open_at(folder);
	char command[256];

	check("p", cache);
	snprintf(command, sizeof(command), "cd %s && sed s/deep/DEEP/ p > forged", dir);
	assert_int_equal(system(command), 0);
	look("forged", cache, command, sizeof(command));
	assert_string_equal(command, "DEEP:3 f:6 g:10 ");
	check("p", cache);
	close(cache);
}

static void a_folder_of_others_is_not_used(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/open", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(cache_dir_open_at(path), -1);
	assert_int_equal(chmod(path, 0700), 0);
	close(cache_dir_open_at(path));
	snprintf(path, sizeof(path), "%s/link", dir);
	assert_int_equal(symlink("open", path), 0);
	close(cache_dir_open_at(path));
	/* Whoever may write to its folder may have put the link there. */
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(cache_dir_open_at(path), -1);
	assert_int_equal(chmod(dir, 0700), 0);
	check("p", -1);
}

static void what_was_not_used_for_longest_goes(void **state)
{
	struct timespec old[2] = { { 1000000, 0 }, { 1000000, 0 } };
	int cache = cache_dir_open_at(folder), fd;

	for (int i = 0; i < 3; i++) {
		char name[] = { '0' + i, '\0' };

		fd = openat(cache, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		assert_int_equal(ftruncate(fd, 100 << 20), 0);
		old[1].tv_sec += i == 1 ? -10 : 10; /* "1" is the oldest */
		futimens(fd, old);
		close(fd);
	}
	fd = cache_dir_write(cache);
	assert_true(fd >= 0);
	cache_dir_keep(cache, fd, "new");
	assert_int_equal(faccessat(cache, "0", F_OK, 0), 0);
	assert_int_equal(faccessat(cache, "1", F_OK, 0), -1);
	assert_int_equal(faccessat(cache, "2", F_OK, 0), 0);
	assert_int_equal(faccessat(cache, "new", F_OK, 0), 0);
	close(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_says_the_same),
		cmocka_unit_test(what_is_kept_is_read),
		cmocka_unit_test(broken_files_are_made_again),
		cmocka_unit_test(another_file_is_not_believed),
		cmocka_unit_test(a_folder_of_others_is_not_used),
		cmocka_unit_test(what_was_not_used_for_longest_goes),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
