/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that processes run: by the paths they know, and by those that we can open. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/points_parts.h"
#include "collect/reading.h"
#include "proc/maps.h"
#include "reader/peek.h"

static bool is_that_file(const char *path, const struct maps_line *line, struct stat *st)
{
	return !stat(path, st) && st->st_ino == line->ino && S_ISREG(st->st_mode);
}

/* As the process sees it, which may be another root; a file that was deleted by its mapping. */
static char *openable(uint32_t pid, const struct maps_line *line, struct stat *st)
{
	char *path = xstrdup(line->path);

	if (is_that_file(path, line, st))
		return path;
	free(path);
	path = xasprintf("/proc/%u/root%s", pid, line->path);
	if (is_that_file(path, line, st))
		return path;
	free(path);
	path = xasprintf("/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid, line->start, line->end);
	if (is_that_file(path, line, st))
		return path;
	free(path);
	return NULL;
}

/* What it was called when it was mapped. */
static char *name_of(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), tail = sizeof(deleted) - 1;

	return xstrndup(path, len > tail && !strcmp(path + len - tail, deleted) ? len - tail : len);
}

static void add_mapped(void *arg, const struct maps_line *line)
{
	struct points_mapped *m = arg;
	struct stat st;
	char *path = line->path[0] == '/' ? openable(m->pid, line, &st) : NULL;

	for (size_t i = 0; path && i < m->nr; i++)
		if (m->st[i].st_ino == st.st_ino && m->st[i].st_dev == st.st_dev) {
			free(path);
			return;
		}
	if (!path)
		return;
	m->v = xgrow(m->v, m->nr, &m->cap, sizeof(*m->v));
	m->names = xgrow(m->names, m->nr, &m->cap_names, sizeof(*m->names));
	m->names[m->nr] = name_of(line->path);
	m->st = xgrow(m->st, m->nr, &m->cap_st, sizeof(*m->st));
	m->st[m->nr] = st;
	m->v[m->nr++] = path;
}

static void take_lines(void *arg, size_t i, const void *lines, ssize_t len)
{
	struct points_mapped *m = arg;
	char *text;

	if (len <= 0)
		return;
	m->pid = m->pids[i];
	text = xmalloc(len);
	memcpy(text, lines, len);
	maps_take(text, len, add_mapped, m);
	free(text);
}

void points_read_mapped(struct points_mapped *m, const struct opt_ids *pids)
{
	uint32_t *asked = xcalloc(pids ? pids->nr + 1 : 1, sizeof(*asked));
	struct reading r;
	size_t nr = 0;

	*m = (struct points_mapped){ .pids = asked };
	if (pids && pids->nr && !reading_open(&r)) {
		for (size_t i = 0; i < pids->nr; i++)
			if (peek_answers(r.reader, pids->v[i]))
				asked[nr++] = pids->v[i];
		r.mapper.read(r.mapper.arg, asked, nr, take_lines, m);
		reading_close(&r);
	}
	free(asked);
}

void points_release_mapped(struct points_mapped *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		free(m->v[i]);
		free(m->names[i]);
	}
	free(m->v);
	free(m->names);
	free(m->st);
}

int points_for_each_file(const struct opt_ids *pids, int (*fn)(void *arg, const char *path),
			 void *arg)
{
	struct points_mapped m;
	int err = 0;

	points_read_mapped(&m, pids);
	for (size_t i = 0; i < m.nr && !err; i++)
		err = fn(arg, m.v[i]);
	points_release_mapped(&m);
	return err;
}

const char *points_nth_mapped(void *arg, size_t i)
{
	const struct points_mapped *m = arg;

	return i < m->nr ? m->names[i] : NULL;
}

size_t points_find_mapped(const struct points_mapped *m, const char *path)
{
	char *real = realpath(path, NULL);
	struct stat st;
	size_t i, known = m->nr;
	bool there = !stat(path, &st);

	for (i = 0; i < m->nr; i++) {
		if (there && m->st[i].st_ino == st.st_ino && m->st[i].st_dev == st.st_dev)
			break;
		if (known == m->nr &&
		    (!strcmp(m->names[i], path) || (real && !strcmp(m->names[i], real))))
			known = i;
	}
	free(real);
	return i < m->nr ? i : known;
}
