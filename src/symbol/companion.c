/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where debug files are, as distributions and debuggers agree. */
#include "symbol/companion.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf/section.h"

#define MAX_BYTES (4ull << 30)

/* A name, padding to four bytes, the checksum of the file. */
static void read_link(struct companion_wants *w, const struct elf_file *f)
{
	const Elf64_Shdr *s = section_find(f, ".gnu_debuglink");
	size_t sz = 0, len, at;
	char *bytes = s ? section_read(f, s, sizeof(w->link) + 8, &sz) : NULL;

	len = bytes ? strnlen(bytes, sz) : 0;
	at = (len + 4) & ~3ul;
	if (len && len < sizeof(w->link) && at + sizeof(w->link_crc) <= sz && !strchr(bytes, '/') &&
	    bytes[0] != '.') {
		memcpy(w->link, bytes, len + 1);
		memcpy(&w->link_crc, bytes + at, sizeof(w->link_crc));
	}
	free(bytes);
}

/* A path, then the build-id of the file. */
static void read_alt(struct companion_wants *w, const struct elf_file *f)
{
	const Elf64_Shdr *s = section_find(f, ".gnu_debugaltlink");
	size_t sz = 0, len, id_len;
	char *bytes = s ? section_read(f, s, sizeof(w->alt) + sizeof(w->alt_id), &sz) : NULL;

	len = bytes ? strnlen(bytes, sz) : 0;
	id_len = sz - len;
	if (len && len < sizeof(w->alt) && id_len > 2 && id_len - 1 <= sizeof(w->alt_id)) {
		memcpy(w->alt, bytes, len + 1);
		w->alt_id_len = id_len - 1;
		memcpy(w->alt_id, bytes + len + 1, w->alt_id_len);
	}
	free(bytes);
}

void companion_wants_read(struct companion_wants *w, const struct elf_file *f)
{
	*w = (struct companion_wants){ .build_id_len = f->build_id_len };
	memcpy(w->build_id, f->build_id, sizeof(w->build_id));
	read_link(w, f);
	read_alt(w, f);
}

static bool is_harmless(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size > 0 && (uint64_t)st->st_size <= MAX_BYTES;
}

/* Takes a path over. */
static size_t try_open(char *path, size_t nr, int fds[COMPANION_MAX_FILES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	free(path);
	if (fd < 0)
		return nr;
	if (nr < COMPANION_MAX_FILES && !fstat(fd, &st) && is_harmless(&st)) {
		fds[nr] = fd;
		return nr + 1;
	}
	close(fd);
	return nr;
}

int companion_open_path(const char *path)
{
	int fds[COMPANION_MAX_FILES];

	return try_open(xstrdup(path), 0, fds) ? fds[0] : -1;
}

static size_t try_build_id(const uint8_t *id, size_t len, const char *dir, const char *suffix,
			   size_t nr, int fds[COMPANION_MAX_FILES])
{
	char hex[2 * 20 + 1] = "";

	if (len < 2 || !dir)
		return nr;
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return try_open(xasprintf("%s/.build-id/%.2s/%s%s", dir, hex, hex + 2, suffix), nr, fds);
}

size_t companion_open_debug(const struct companion_wants *w, const char *path, const char *dir,
			    int fds[COMPANION_MAX_FILES])
{
	const char *slash = strrchr(path, '/');
	size_t nr = try_build_id(w->build_id, w->build_id_len, dir, ".debug", 0, fds);
	int len = slash ? slash - path : 0;

	if (nr || !*w->link || *path != '/')
		return nr;
	nr = try_open(xasprintf("%.*s/%s", len, path, w->link), nr, fds);
	nr = try_open(xasprintf("%.*s/.debug/%s", len, path, w->link), nr, fds);
	if (dir)
		nr = try_open(xasprintf("%s%.*s/%s", dir, len, path, w->link), nr, fds);
	return nr;
}

char *companion_alt_path(const struct companion_wants *w, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (*w->alt == '/' || *path != '/')
		return xstrdup(w->alt);
	return xasprintf("%.*s/%s", (int)(slash - path), path, w->alt);
}

/*
 * Distributions have them in one folder below that of debug files:
 * "../../.dwz/x86_64-linux-gnu/name.debug".
 */
static size_t try_dwz(const char *alt, const char *dir, size_t nr, int fds[COMPANION_MAX_FILES])
{
	const char *below = strstr(alt, ".dwz/"), *slash = strrchr(alt, '/');

	if (below)
		return try_open(xasprintf("%s/%s", dir, below), nr, fds);
	return try_open(xasprintf("%s/.dwz/%s", dir, slash ? slash + 1 : alt), nr, fds);
}

size_t companion_open_alt(const struct companion_wants *w, const char *path, const char *dir,
			  int fds[COMPANION_MAX_FILES])
{
	size_t nr = try_build_id(w->alt_id, w->alt_id_len, dir, ".debug", 0, fds);

	if (*w->alt && (*w->alt == '/' || *path == '/'))
		nr = try_open(companion_alt_path(w, path), nr, fds);
	return *w->alt && dir ? try_dwz(w->alt, dir, nr, fds) : nr;
}

static bool is_among(const char *path, const char *const *paths, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(path, paths[i]))
			return true;
	return false;
}

size_t companion_open_packages(const char *const *paths, size_t nr, const uint8_t *id, size_t len,
			       const char *dir, int fds[COMPANION_MAX_FILES])
{
	const char *slash = nr ? strrchr(paths[0], '/') : NULL;
	size_t nr_fds = 0;

	for (size_t i = 0; i < nr; i++)
		if (*paths[i] == '/' && !is_among(paths[i], paths, i))
			nr_fds = try_open(xasprintf("%s.dwp", paths[i]), nr_fds, fds);
	nr_fds = try_build_id(id, len, dir, ".dwp", nr_fds, fds);
	nr_fds = try_build_id(id, len, dir, ".debug.dwp", nr_fds, fds);
	if (slash && slash[1])
		nr_fds = try_open(xasprintf("%s/%s.dwp", dir, slash + 1), nr_fds, fds);
	return nr_fds;
}
