/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Source files for annotations: regular ones, of a size that somebody may have written. */
#include "cmd/annotate_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "symbol/companion.h"

#define MAX_BYTES (16u << 20) /* of a file */
#define MAX_FILES 64	      /* of a function, those with the hottest lines */

struct missing {
	size_t nr;
	char *first; /* the hottest of them */
};

/* "/build/x/a.c" is looked for as DIR/build/x/a.c, DIR/x/a.c, DIR/a.c. */
static int open_below(const char *folder, const char *path)
{
	char *whole;
	int fd = -1;

	for (const char *end = path; end && fd < 0; end = strchr(end, '/')) {
		end += strspn(end, "/");
		whole = xasprintf("%s/%s", folder, end);
		fd = companion_open_path(whole);
		free(whole);
	}
	return fd;
}

static int open_source(const struct opt_strings *folders, const char *path)
{
	int fd = -1;

	for (size_t i = 0; i < folders->nr && fd < 0; i++)
		fd = open_below(folders->v[i], path);
	return fd < 0 && *path == '/' ? companion_open_path(path) : fd;
}

/* NULL: it is too large. */
static char *read_whole(int fd, const struct stat *st, size_t *sz)
{
	char *text;
	ssize_t got;

	if (st->st_size > MAX_BYTES)
		return NULL;
	text = xmalloc(st->st_size + 1);
	for (*sz = 0; *sz < (size_t)st->st_size; *sz += got) {
		got = pread(fd, text + *sz, st->st_size - *sz, *sz);
		if (got <= 0)
			break;
	}
	return text;
}

static void tell_newer(struct annotation *a, const struct stat *st, const char *path)
{
	const struct profile_meta *m = &a->costs->profile->meta;
	uint64_t end_ns = m->start_ns + m->duration_ns;
	char *shown;

	if (!m->start_ns || (uint64_t)st->st_mtim.tv_sec <= end_ns / 1000000000)
		return;
	shown = text_cleaned(path);
	annotation_note(a, "%s was changed after the recording: its lines may have moved", shown);
	free(shown);
}

static bool add_file(struct annotation *a, const struct opt_strings *folders, uint32_t file)
{
	char *path = xstrdup(annotation_str(a, file)), *text = NULL;
	int fd = open_source(folders, path);
	struct stat st;
	size_t sz;

	if (fd >= 0 && !fstat(fd, &st))
		text = read_whole(fd, &st, &sz);
	if (text) {
		tell_newer(a, &st, path);
		annotation_add_file(a, file, text, sz);
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return text;
}

static bool is_known(const uint32_t *files, size_t nr, uint32_t file)
{
	for (size_t i = 0; i < nr; i++)
		if (files[i] == file)
			return true;
	return !file;
}

static void tell_missing(struct annotation *a, const struct missing *m)
{
	if (m->nr == 1)
		annotation_note(a, "%s is not found (--source-dir DIR says where sources are)",
				m->first);
	else if (m->nr)
		annotation_note(a,
				"%s and %zu other source file%s are not found (--source-dir DIR "
				"says where sources are)",
				m->first, m->nr - 1, m->nr > 2 ? "s" : "");
}

struct reading {
	const struct opt_strings *folders;
	uint32_t files[MAX_FILES];
	size_t nr;
	struct missing missing;
};

static void add_file_of(struct reading *r, struct annotation *a, uint32_t line)
{
	uint32_t file = a->lines[line].file;

	if (r->nr == MAX_FILES || is_known(r->files, r->nr, file))
		return;
	r->files[r->nr++] = file;
	if (!add_file(a, r->folders, file) && !r->missing.nr++)
		r->missing.first = text_cleaned(annotation_str(a, file));
}

/* The files of hot lines first; of those without any cost only what is shown. */
static void add_files(struct annotation *a, const struct opt_strings *folders, bool whole)
{
	struct reading r = { .folders = folders };

	for (size_t i = 0; i < a->nr_hottest; i++)
		add_file_of(&r, a, a->hottest[i]);
	for (size_t i = 0; i < a->nr_lines && whole; i++)
		add_file_of(&r, a, i);
	tell_missing(a, &r.missing);
	free(r.missing.first);
}

void annotate_source(struct annotations *all, const struct opt_strings *folders)
{
	for (size_t i = 0; i < all->nr; i++)
		add_files(all->v[i], folders, all->whole);
}
