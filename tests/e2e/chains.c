/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * chains [-n] FILE < ADDRESSES: what the sources of names say of addresses as they are linked
 * (hexadecimal, one a line): "ADDRESS NAME PLACE NAME PLACE ...", innermost first, separated by
 * tabs; a place is FILE:LINE or "?". -n: functions only. On stderr how long that took, and until
 * the folder $CHAINS_CACHE, if there is one, keeps what was read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "symbol/cache_dir.h"
#include "symbol/source.h"

static int ascending(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

static uint64_t *read_offsets(const struct elf_file *f, size_t *nr)
{
	uint64_t vaddr, *offsets = NULL;
	size_t cap = 0;

	for (*nr = 0; scanf("%" SCNx64, &vaddr) == 1;) {
		offsets = xgrow(offsets, *nr, &cap, sizeof(*offsets));
		if (elf_file_offset(f, vaddr, &offsets[*nr]))
			++*nr;
	}
	qsort(offsets, *nr, sizeof(*offsets), ascending);
	return offsets;
}

static void show(const struct elf_file *f, uint64_t offset, const struct symbol_found *found)
{
	uint64_t vaddr;

	elf_file_vaddr(f, offset, &vaddr);
	printf("0x%" PRIx64, vaddr);
	for (size_t i = 0; i < found->nr; i++) {
		const struct symbol_function *c = &found->chain[i];

		printf("\t%s\t", c->name);
		if (c->file)
			printf("%s:%" PRIu32, c->file, c->line);
		else
			putchar('?');
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	bool names = argc > 2 && !strcmp(argv[1], "-n");
	const char *path = argv[argc - 1];
	int fd = argc > 1 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct elf_file *f = fd >= 0 ? elf_file_open(fd) : NULL;
	const char *cache = getenv("CHAINS_CACHE");
	struct symbol_lines lines = { .deadline_ns = UINT64_MAX,
				      .cache_dir = cache ? cache_dir_open_at(cache) : -1 };
	struct symbol_module m = { .kind = FRAME_USER, .path = path, .file = f };
	struct symbol_sources sources;
	struct debug_files debug;
	struct symbol_found found;
	struct rusage usage;
	uint64_t begin_ns, named_ns;

	if (!f) {
		fprintf(stderr, "chains: %s: %s\n", path, strerror(errno));
		return 1;
	}
	m.addresses = read_offsets(f, &m.nr);
	begin_ns = now_ns();
	debug_files_open(&debug, f, path, SYMBOL_DEBUG_DIR);
	m.debug_files = &debug;
	m.lines = names ? NULL : &lines;
	symbol_sources_open(&sources, &m);
	for (size_t i = 0; i < m.nr; i++) {
		symbol_sources_find(&sources, m.addresses[i], &found);
		show(f, m.addresses[i], &found);
	}
	fflush(stdout);
	named_ns = now_ns();
	symbol_sources_close(&sources);
	debug_files_close(&debug);
	getrusage(RUSAGE_SELF, &usage);
	fprintf(stderr, "ms %.1f peak-mb %.1f late %" PRIu64 " kept-ms %.1f\n",
		(named_ns - begin_ns) / 1e6, usage.ru_maxrss / 1024.0, lines.nr_late,
		(now_ns() - begin_ns) / 1e6);
	return 0;
}
