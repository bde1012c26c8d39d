/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command line lies in the memory of its process, which may be such that the kernel waits for
 * somebody to bring it (a file of FUSE, userfaultfd). So the child that stays reads them.
 */
#include "collect/command_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "profile/titles.h"

#define MAX_LINE 508u

static size_t read_proc(uint32_t pid, const char *file, char *bytes, size_t max)
{
	char path[40];
	ssize_t nr;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	nr = read(fd, bytes, max);
	close(fd);
	return nr > 0 ? nr : 0;
}

/* Its number may be another's by now: one of the same name at least. */
static bool is_still(const struct command_line *row)
{
	char now[PROF_COMM_LEN + 1];
	size_t nr = read_proc(row->pid, "comm", now, sizeof(now)),
	       len = strnlen(row->name, sizeof(row->name));

	return nr == len + 1 && !memcmp(now, row->name, len);
}

ssize_t command_lines_each(const void *row, void *answer, size_t max)
{
	const struct command_line *c = row;

	if (max < MAX_LINE || !is_still(c))
		return 0;
	return read_proc(c->pid, "cmdline", answer, MAX_LINE);
}

struct lines {
	struct title_row *rows;
	char (*bytes)[MAX_LINE];
};

static void take(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	const struct lines *l = arg;

	if (sz <= 0 || sz > (ssize_t)MAX_LINE)
		return;
	memcpy(l->bytes[i], bytes, sz);
	l->rows[i].line = l->bytes[i];
	l->rows[i].len = sz;
}

void command_lines_read(struct profile *p, struct reader *r)
{
	size_t nr;
	struct lines l = { .rows = titles_wanted(p, &nr) };
	struct command_line *asked = xcalloc(nr + 1, sizeof(*asked));

	l.bytes = xcalloc(nr + 1, sizeof(*l.bytes));
	for (size_t i = 0; i < nr; i++) {
		asked[i].pid = l.rows[i].pid;
		strncpy(asked[i].name, profile_str(p, l.rows[i].process), PROF_COMM_LEN);
	}
	reader_ask_each(r, READER_COMMAND_LINES, asked, nr, take, &l);
	titles_add(p, l.rows, nr);
	free(asked);
	free(l.bytes);
	free(l.rows);
}
