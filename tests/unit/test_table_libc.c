/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables of C libraries, this machine's and a cross compiler's, where functions have frames
 * too large for a row, and where clone3() waits: behind its system call, for which no function has
 * rules.
 */
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

#include "elf/elf_file.h"
#include "unwind/table.h"

#define CROSS "/usr/aarch64-linux-gnu/lib/libc.so.6"

struct library {
	char path[256];
	int fd;
	struct elf_file *file;
	struct table table;
};

static bool library_open(struct library *l)
{
	l->fd = open(l->path, O_RDONLY);
	if (l->fd < 0)
		return false;
	l->file = elf_file_open(l->fd);
	assert_non_null(l->file);
	assert_int_equal(table_build(&l->table, l->file, NULL), 0);
	return true;
}

static void library_close(struct library *l)
{
	table_release(&l->table);
	elf_file_close(l->file);
	close(l->fd);
}

static void find_own(char *path, size_t sz)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	*path = '\0';
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so.6"))
			snprintf(path, sz, "%.*s", (int)strcspn(strchr(line, '/'), "\n"),
				 strchr(line, '/'));
	fclose(maps);
}

/* How many libraries it was called with. */
static unsigned int each_library(void (*look)(struct library *l))
{
	struct library libraries[2] = { { .path = "" }, { .path = CROSS } };
	unsigned int nr = 0;

	find_own(libraries[0].path, sizeof(libraries[0].path));
	for (size_t i = 0; i < 2; i++) {
		if (!library_open(&libraries[i]))
			continue;
		look(&libraries[i]);
		library_close(&libraries[i]);
		nr++;
	}
	return nr;
}

static unsigned int nr_large;

/* Whichever way it is written: the CFA's distance to the stack pointer. */
static int64_t distance(const struct table *t, uint64_t vaddr)
{
	uint32_t rule = table_rule(t, vaddr);
	const struct table_exception *e = table_exception(t, rule);

	if (e)
		return e->cfa_kind == CFA_REG ? e->cfa_off : -1;
	return t->arch == TABLE_X86 ? RULE_X86_CFA(rule) : RULE_ARM64_CFA(rule);
}

/* Rows of readelf that are "ADDRESS rsp+33360 …": more than 15 bits of bytes. */
static void compare_large_frames(struct library *l)
{
	char command[400], line[512];
	uint64_t at, off;
	FILE *p;

	snprintf(command, sizeof(command), "readelf --debug-dump=frames-interp %s 2>/dev/null",
		 l->path);
	p = popen(command, "r");
	while (fgets(line, sizeof(line), p)) {
		if (sscanf(line, "%" SCNx64 " rsp+%" SCNu64, &at, &off) != 2 &&
		    sscanf(line, "%" SCNx64 " sp+%" SCNu64, &at, &off) != 2)
			continue;
		if (off < 1 << 15)
			continue;
		assert_int_equal(distance(&l->table, at), off);
		nr_large++;
	}
	pclose(p);
	assert_int_equal(l->table.nr_unsupported, 0);
}

static void frames_of_more_than_32_kib_are_kept(void **state)
{
	nr_large = 0;
	if (system("readelf --version >/dev/null 2>&1") || !each_library(compare_large_frames) ||
	    !nr_large)
		skip();
	print_message("# %u rows of 32 KiB or more\n", nr_large);
}

/* mov $435,%eax; syscall, and mov x8,#435; svc #0: what lies behind is where the thread waits. */
static uint64_t behind_clone3(const struct library *l)
{
	static const uint8_t x86[] = { 0xb8, 0xb3, 0x01, 0x00, 0x00, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x36, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };
	bool is_x86 = l->table.arch == TABLE_X86;
	const uint8_t *call = is_x86 ? x86 : arm64;
	size_t sz = is_x86 ? sizeof(x86) : sizeof(arm64), len;
	off_t end = lseek(l->fd, 0, SEEK_END);
	uint8_t *data = malloc(end);
	const uint8_t *found = NULL;
	uint64_t vaddr = 0;

	len = elf_file_read(l->file, 0, data, end);
	found = memmem(data, len, call, sz);
	if (found && !elf_file_vaddr(l->file, found - data + sz, &vaddr))
		vaddr = 0;
	free(data);
	return vaddr;
}

static unsigned int nr_clone3;

static void check_behind_clone3(struct library *l)
{
	uint64_t at = behind_clone3(l);
	uint32_t rule = table_rule(&l->table, at);

	if (!at) /* it may have none */
		return;
	nr_clone3++;
	assert_null(table_exception(&l->table, rule));
	if (l->table.arch == TABLE_X86) {
		/* As on entry: the return address is where the stack pointer is. */
		assert_int_equal(RULE_X86_KIND(rule), 0);
		assert_int_equal(RULE_X86_CFA(rule), 8);
		assert_int_equal(rule & (RULE_X86_BASE_FP | 0x7f), 0);
	} else {
		assert_int_equal(RULE_ARM64_MODE(rule), MODE_LR);
		assert_int_equal(RULE_ARM64_CFA(rule), 0);
	}
}

static void clone3_has_a_caller_behind_its_system_call(void **state)
{
	nr_clone3 = 0;
	if (!each_library(check_behind_clone3) || !nr_clone3)
		skip();
	print_message("# clone3 of %u libraries\n", nr_clone3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_more_than_32_kib_are_kept),
		cmocka_unit_test(clone3_has_a_caller_behind_its_system_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
