/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names, inlined calls and lines of files made to hurt. The input is an ELF file; or "dwp", a
 * letter, the size of such a file in four bytes, the file, and the package of its split units; or
 * else the contents of .debug_line, whose table is read alone. Answers have to be whole: a chain
 * has a name for each function, rows of a line table ascend.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbol/dwarf_lines.h"
#include "symbol/source.h"
#include "tests/fuzz/limits.h"

#define NR_ADDRESSES 64
#define TIME_NS	     200000000ull

static size_t choose_addresses(const struct elf_file *f, uint64_t addresses[NR_ADDRESSES])
{
	for (size_t i = 0; i < f->nr_segments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || p->p_offset > f->size)
			continue;
		for (size_t k = 0; k < NR_ADDRESSES; k++)
			addresses[k] = p->p_offset + k * (p->p_filesz / NR_ADDRESSES % 65536 + 1);
		return NR_ADDRESSES;
	}
	return 0;
}

static void check_found(const struct symbol_found *found)
{
	assert(found->nr <= FRAME_MAX_FUNCTIONS);
	for (size_t i = 0; i < found->nr; i++) {
		assert(*found->chain[i].name);
		assert(!found->chain[i].file || strlen(found->chain[i].file) < 1 << 20);
	}
}

static void check_image(const void *bytes, size_t sz, const struct debug_files *debug)
{
	struct symbol_lines lines = { .deadline_ns = now_ns() + TIME_NS, .cache_dir = -1 };
	struct elf_file *f = elf_file_open_image(bytes, sz);
	uint64_t addresses[NR_ADDRESSES];
	struct symbol_module m = { .kind = FRAME_USER,
				   .path = "fuzzed",
				   .file = f,
				   .debug_files = debug,
				   .lines = &lines,
				   .addresses = addresses };
	struct symbol_sources sources;
	struct symbol_found found;

	if (!f)
		return;
	m.nr = choose_addresses(f, addresses);
	symbol_sources_open(&sources, &m);
	for (size_t i = 0; i < m.nr; i++)
		if (symbol_sources_find(&sources, addresses[i], &found))
			check_found(&found);
	symbol_sources_close(&sources);
	elf_file_close(f);
}

static void check_package(const uint8_t *bytes, size_t sz)
{
	struct debug_files d = { .debug_fd = -1, .alt_fd = -1 };
	uint32_t first;

	memcpy(&first, bytes, sizeof(first));
	bytes += sizeof(first);
	sz -= sizeof(first);
	if (first > sz)
		first = sz;
	d.packages[0] = elf_file_open_image(bytes + first, sz - first);
	d.nr_packages = d.packages[0] != NULL;
	check_image(bytes, first, &d);
	elf_file_close(d.packages[0]);
}

static void check_lines(const uint8_t *bytes, size_t sz)
{
	struct dwarf_line_sections s = { bytes, bytes, bytes, sz, sz, sz };
	struct dwarf_lines l;

	dwarf_lines_load(&l, &s, 0);
	for (size_t i = 1; i < l.nr_rows; i++)
		assert(l.rows[i - 1].address <= l.rows[i].address);
	for (size_t i = 0; i < l.nr_files && i < 64; i++)
		free(dwarf_lines_path(&l, i, "/"));
	dwarf_lines_release(&l);
}

int fuzz_target(const uint8_t *data, size_t sz)
{
	if (sz >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG))
		check_image(data, sz, NULL);
	else if (sz >= 8 && !memcmp(data, "dwp", 3))
		check_package(data + 4, sz - 4);
	else
		check_lines(data, sz);
	return 0;
}
