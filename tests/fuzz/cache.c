/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of any bytes in the folder where DWARF is kept. Their checksums are made right here, so
 * that what is behind them is reached. What is taken has to be whole.
 */
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "symbol/cache_dir.h"
#include "symbol/dwarf_cache.h"
#include "tests/fuzz/limits.h"

/* As dwarf_cache.c writes them. */
struct head {
	char magic[8];
	uint64_t places_at, nr_places, nr_units;
	uint32_t crc, pad;
};
struct unit {
	uint64_t die, at, size;
	uint32_t crc, pad;
};

static char folder[] = "/tmp/bpfprof-fuzz.XXXXXX";
static char name[256];
static int dir;
static struct elf_file file = { .fd = -1, .build_id_len = 20 };

int LLVMFuzzerInitialize(int *argc, char ***argv);

static void clean(void)
{
	unlinkat(dir, name, 0);
	rmdir(folder);
}

/* A file of one empty unit is written, and found: that is the name to use. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct dwarf_place place = { 1, 2, 0 };
	struct dwarf_index x = { &place, 1, 1 };
	struct dwarf_unit u = {};
	struct dwarf_cache *c;
	const struct dirent *e;
	DIR *d;

	if (!mkdtemp(folder))
		return 1;
	dir = cache_dir_open_at(folder);
	file.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	c = dwarf_cache_open(dir, &file, &file);
	strings_init(&u.strings);
	dwarf_cache_put(c, 0, &u);
	dwarf_unit_release(&u);
	dwarf_cache_close(c, &x);
	d = opendir(folder);
	while ((e = readdir(d)))
		if (*e->d_name != '.')
			strcpy(name, e->d_name);
	closedir(d);
	atexit(clean);
	return !*name;
}

static void repair(uint8_t *bytes, size_t sz)
{
	struct head *h = (struct head *)bytes;
	uint64_t places, units;

	if (sz < sizeof(*h) || h->nr_places > sz || h->nr_units > sz)
		return;
	memcpy(h->magic, "bpfpdwf1", sizeof(h->magic));
	places = h->nr_places * sizeof(struct dwarf_place);
	units = h->nr_units * sizeof(struct unit);
	if (places + units > sz)
		return;
	h->places_at = sz - places - units;
	for (size_t i = 0; i < h->nr_units; i++) {
		uint8_t *at = bytes + sz - units + i * sizeof(struct unit);
		struct unit u;

		memcpy(&u, at, sizeof(u));
		if (u.at > sz || u.size > sz - u.at)
			continue;
		u.crc = crc32_z(0, bytes + u.at, u.size);
		memcpy(at, &u, sizeof(u));
	}
	h->crc = crc32_z(0, bytes + h->places_at, places + units);
}

static void check_unit(struct dwarf_unit *u)
{
	uint32_t string, line;

	for (size_t i = 0; i < u->nr_ranges; i++) {
		const struct dwarf_range *r = dwarf_unit_find(u, u->ranges[i].start);

		for (uint32_t n = r ? r->node : DWARF_NO_NODE; n != DWARF_NO_NODE;
		     n = dwarf_unit_node(u, n)->parent)
			assert(strlen(u->strings.bytes + dwarf_unit_node(u, n)->name) <
			       u->strings.len);
		dwarf_unit_line(u, u->ranges[i].start, &string, &line);
		assert(string < u->strings.len);
	}
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	uint8_t *bytes = malloc(sz + 1);
	struct dwarf_index x = {};
	struct dwarf_cache *c;
	struct dwarf_unit u;
	int fd;

	memcpy(bytes, data, sz);
	repair(bytes, sz);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, sz) != (ssize_t)sz)
		abort();
	close(fd);
	free(bytes);
	c = dwarf_cache_open(dir, &file, &file);
	dwarf_cache_index(c, &x);
	for (uint64_t die = 0; die < 16; die++)
		if (dwarf_cache_get(c, die, &u)) {
			check_unit(&u);
			dwarf_unit_release(&u);
		}
	dwarf_cache_close(c, &x);
	dwarf_index_release(&x);
	return 0;
}
