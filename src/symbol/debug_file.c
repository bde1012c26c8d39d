/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The separate debug file of a stripped one, found by its build-id: distributions put .symtab
 * there. Its segments are not the file's: only the file itself converts offsets.
 */
#include "symbol/debug_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbol/elf.h"
#include "symbol/source.h"

struct debug_file {
	int fd;
	struct elf_file *file;
	struct elf_symbols *symbols;
};

static bool same_build(const struct elf_file *a, const struct elf_file *b)
{
	return a->build_id_len == b->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

static int open_path(const struct elf_file *f, const char *dir)
{
	char hex[2 * sizeof(f->build_id) + 1] = "", *path;
	int fd;

	for (size_t i = 0; i < f->build_id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", f->build_id[i]);
	path = xasprintf("%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	return fd;
}

struct elf_file *debug_file_open(const struct elf_file *f, const char *dir, int *fd)
{
	struct elf_file *debug;

	if (f->build_id_len < 2)
		return NULL;
	*fd = open_path(f, dir);
	debug = *fd >= 0 ? elf_file_open(*fd) : NULL;
	if (debug && same_build(f, debug))
		return debug;
	elf_file_close(debug);
	if (*fd >= 0)
		close(*fd);
	return NULL;
}

static void close_debug_file(void *source)
{
	struct debug_file *d = source;

	elf_symbols_free(d->symbols);
	elf_file_close(d->file);
	close(d->fd);
	free(d);
}

static void *open_debug_file(const struct symbol_module *m)
{
	struct elf_file *file;
	struct debug_file *d;
	int fd;

	file = m->file && m->debug_dir ? debug_file_open(m->file, m->debug_dir, &fd) : NULL;
	if (!file)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	d->fd = fd;
	d->file = file;
	d->symbols = elf_symbols_new(m->file, d->file, SHT_SYMTAB);
	if (d->symbols)
		return d;
	close_debug_file(d);
	return NULL;
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	struct debug_file *d = source;

	return elf_symbols_answer(d->symbols, address, found);
}

const struct symbol_source_ops symbol_source_debug_file = {
	"the debug file with its build-id",
	SYMBOL_NAMES,
	FRAME_USER,
	open_debug_file,
	find,
	close_debug_file,
};
