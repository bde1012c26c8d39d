/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Debug files that belong to a file, and the symbol table of one as a source of names. */
#include "symbol/debug_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "base/mem.h"
#include "elf/section.h"
#include "symbol/companion.h"
#include "symbol/debuginfod.h"
#include "symbol/elf.h"
#include "symbol/source.h"

#define MAX_CHECKED (1ull << 30) /* 0.5 s */

static bool same_build(const uint8_t *id, size_t len, const struct elf_file *f)
{
	return len && len == f->build_id_len && !memcmp(id, f->build_id, len);
}

static bool same_checksum(const struct elf_file *f, uint32_t crc)
{
	uint64_t at = 0, sum = 0;
	size_t sz = 1 << 20, nr;
	void *chunk;

	if (f->size > MAX_CHECKED)
		return false;
	chunk = xmalloc(sz);
	for (; (nr = elf_file_read(f, at, chunk, sz)); at += nr)
		sum = crc32_z(sum, chunk, nr);
	free(chunk);
	return at == f->size && sum == crc;
}

/* Two files with build-ids need no checksum; those that differ are not looked at. */
static bool belongs(const struct companion_wants *w, const struct elf_file *debug)
{
	if (w->build_id_len && debug->build_id_len)
		return same_build(w->build_id, w->build_id_len, debug);
	return *w->link && same_checksum(debug, w->link_crc);
}

static bool belongs_as_alt(const struct companion_wants *w, const struct elf_file *alt)
{
	return same_build(w->alt_id, w->alt_id_len, alt);
}

/* Of nr open files the first that belongs there; the others are closed. */
static struct elf_file *
choose(const struct companion_wants *w, const int *fds, size_t nr,
       bool (*is)(const struct companion_wants *w, const struct elf_file *f), int *fd)
{
	struct elf_file *chosen = NULL, *f;

	for (size_t i = 0; i < nr; i++) {
		f = chosen ? NULL : elf_file_open(fds[i]);
		if (f && is(w, f)) {
			chosen = f;
			*fd = fds[i];
			continue;
		}
		elf_file_close(f);
		close(fds[i]);
	}
	return chosen;
}

/* Of an open file, without links; else what the process called it. */
static void path_of(int fd, const char *path, char to[COMPANION_MAX_NAME])
{
	char link[64];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = fd >= 0 ? readlink(link, to, COMPANION_MAX_NAME - 1) : -1;
	if (len > 0 && *to == '/')
		to[len] = '\0';
	else
		snprintf(to, COMPANION_MAX_NAME, "%s", path);
}

/* Skeletons have the addresses of their code in a section of its own. */
static void open_packages(struct debug_files *d, const struct elf_file *f, const char *path,
			  const char *dir)
{
	const struct elf_file *from = d->debug ? d->debug : f;
	char real[COMPANION_MAX_NAME], debug[COMPANION_MAX_NAME];
	int fds[COMPANION_MAX_FILES];
	size_t nr;

	if (!section_find(from, ".debug_addr"))
		return;
	path_of(f->fd, path, real);
	path_of(from->fd, path, debug);
	nr = companion_open_packages((const char *[]){ path, real, debug }, 3, f->build_id,
				     f->build_id_len, dir, fds);
	for (size_t i = 0; i < nr; i++) {
		d->packages[d->nr_packages] = elf_file_open(fds[i]);
		if (d->packages[d->nr_packages])
			d->package_fds[d->nr_packages++] = fds[i];
		else
			close(fds[i]);
	}
}

void debug_files_open(struct debug_files *d, const struct elf_file *f, const char *path,
		      const char *dir)
{
	struct companion_wants *w = xmalloc(sizeof(*w));
	int fds[COMPANION_MAX_FILES];
	char where[COMPANION_MAX_NAME];
	size_t nr;

	*d = (struct debug_files){ .debug_fd = -1, .alt_fd = -1 };
	companion_wants_read(w, f);
	nr = dir ? companion_open_debug(w, path, dir, fds) : 0;
	d->debug = choose(w, fds, nr, belongs, &d->debug_fd);
	if (d->debug) {
		companion_wants_read(w, d->debug);
	} else {
		memcpy(d->link, w->link, sizeof(d->link));
		d->link_is_other = nr;
	}
	path_of(d->debug ? d->debug_fd : f->fd, path, where);
	nr = dir ? companion_open_alt(w, where, dir, fds) : 0;
	d->alt = choose(w, fds, nr, belongs_as_alt, &d->alt_fd);
	if (*w->alt && !d->alt)
		d->no_alt = companion_alt_path(w, where);
	if (dir)
		open_packages(d, f, path, dir);
	free(w);
}

struct elf_file *debug_file_choose(const struct elf_file *f, const int *fds, size_t nr)
{
	struct companion_wants *w = xmalloc(sizeof(*w));
	struct elf_file *chosen = NULL, *debug;

	companion_wants_read(w, f);
	for (size_t i = 0; i < nr && !chosen; i++) {
		debug = elf_file_open(fds[i]);
		if (debug && belongs(w, debug))
			chosen = debug;
		else
			elf_file_close(debug);
	}
	free(w);
	return chosen;
}

void debug_files_fetch(struct debug_files *d, const struct elf_file *f, uint64_t deadline_ns)
{
	struct companion_wants *w;
	int fd;

	if (d->debug || f->build_id_len < 2 || section_find(f, ".debug_info"))
		return;
	fd = debuginfod_open(f->build_id, f->build_id_len, deadline_ns, &d->answer, &d->status);
	if (fd < 0)
		return;
	w = xmalloc(sizeof(*w));
	companion_wants_read(w, f);
	d->debug = choose(w, &fd, 1, belongs, &d->debug_fd);
	if (!d->debug)
		d->answer = DEBUGINFOD_NONE;
	else
		open_packages(d, f, "", SYMBOL_DEBUG_DIR);
	free(w);
}

void debug_files_close(struct debug_files *d)
{
	free(d->no_alt);
	elf_file_close(d->debug);
	elf_file_close(d->alt);
	for (size_t i = 0; i < d->nr_packages; i++) {
		elf_file_close(d->packages[i]);
		close(d->package_fds[i]);
	}
	if (d->debug_fd >= 0)
		close(d->debug_fd);
	if (d->alt_fd >= 0)
		close(d->alt_fd);
}

static void *open_debug_file(const struct symbol_module *m)
{
	const struct debug_files *d = m->debug_files;

	return m->file && d && d->debug ? elf_symbols_new(m->file, d->debug, SHT_SYMTAB) : NULL;
}

static bool find(void *source, uint64_t address, struct symbol_found *found)
{
	return elf_symbols_answer(source, address, found);
}

static void close_debug_file(void *source)
{
	elf_symbols_free(source);
}

const struct symbol_source_ops symbol_source_debug_file = {
	"the debug file", SYMBOL_NAMES, FRAME_USER, open_debug_file, find, close_debug_file,
};
