/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Function starts of stripped files, against what their own .eh_frame says. */
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
#include "symbol/fdes.h"

static struct elf_file *open_file(const char *path)
{
	int fd = open(path, O_RDONLY);

	return fd < 0 ? NULL : elf_file_open(fd);
}

static void close_file(struct elf_file *file)
{
	int fd = file->fd;

	elf_file_close(file);
	close(fd);
}

/* readelf prints "… FDE … pc=START..END" for each function. */
static unsigned int compare_with_readelf(const char *path)
{
	struct elf_file *file = open_file(path);
	char command[256], line[512];
	unsigned int compared = 0;
	uint64_t start, end;
	struct fdes f;
	FILE *p;

	assert_non_null(file);
	fdes_load(&f, file);
	assert_true(f.nr > 0);
	snprintf(command, sizeof(command), "readelf --debug-dump=frames %s 2>/dev/null", path);
	p = popen(command, "r");
	while (fgets(line, sizeof(line), p)) {
		const char *at = strstr(line, " pc=");

		if (!strstr(line, "FDE") || !at ||
		    sscanf(at, " pc=%" SCNx64 "..%" SCNx64, &start, &end) != 2 || start == end)
			continue;
		compared++;
		assert_int_equal(fdes_find(&f, start, NULL), start);
		assert_int_equal(fdes_find(&f, (start + end) / 2, NULL), start);
		assert_int_equal(fdes_find(&f, end - 1, NULL), start);
		assert_int_not_equal(fdes_find(&f, end, NULL), start);
	}
	pclose(p);
	fdes_release(&f);
	close_file(file);
	return compared;
}

static void agrees_with_readelf_on_libc_and_on_ourselves(void **state)
{
	char libc[256] = "", self[256] = "";
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so.6"))
			sscanf(strchr(line, '/'), "%255s", libc);
	fclose(maps);
	if (system("readelf --version >/dev/null 2>&1") || !libc[0])
		skip();
	assert_true(compare_with_readelf(libc) > 1000);
	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_true(compare_with_readelf(self) > 100);
}

/* Every cut and many a flipped byte of the table: an answer or none, never a read out of bounds. */
static void damaged_tables_give_an_answer_or_none(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *image = malloc(size);
	unsigned int seed = 7;

	assert_int_equal(pread(fd, image, size, 0), size);
	close(fd);
	for (int round = 0; round < 300; round++) {
		struct elf_file *file = elf_file_open_image(image, size);
		struct fdes f;
		size_t at;

		if (!file)
			break;
		fdes_load(&f, file);
		for (int i = 0; i < 50; i++)
			fdes_find(&f, (uint64_t)rand_r(&seed) << (rand_r(&seed) % 32), NULL);
		at = f.offset + rand_r(&seed) % 4096;
		fdes_release(&f);
		elf_file_close(file);
		if (at < (size_t)size)
			image[at] ^= 1 << rand_r(&seed) % 8;
		if (round % 10 == 9)
			size -= size / 64;
	}
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_readelf_on_libc_and_on_ourselves),
		cmocka_unit_test(damaged_tables_give_an_answer_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
