/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command line lies in the memory of its process, which may be such that the kernel waits for
 * somebody to bring it (a file of FUSE, userfaultfd). So a copy of ourselves reads them.
 */
#include "collect/command_lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "profile/titles.h"
#include "reader/fork.h"

#define ALL_NS	 500000000ull
#define HANGS_NS 100000000ull
#define MAX_LINE 508u

struct line {
	uint32_t len;
	char bytes[MAX_LINE];
};

struct job {
	const struct profile *profile;
	const struct title_row *rows;
	size_t nr;
};

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
static bool is_still(const char *name, uint32_t pid)
{
	char now[PROF_COMM_LEN + 1];
	size_t nr = read_proc(pid, "comm", now, sizeof(now)), len = strlen(name);

	return nr == len + 1 && !memcmp(now, name, len);
}

static ssize_t read_lines(void *arg, void *answer, size_t max)
{
	const struct job *j = arg;
	struct line *lines = answer;

	for (size_t i = 0; i < j->nr; i++) {
		const struct title_row *row = &j->rows[i];

		lines[i].len = 0;
		if (is_still(profile_str(j->profile, row->process), row->pid))
			lines[i].len = read_proc(row->pid, "cmdline", lines[i].bytes, MAX_LINE);
	}
	return j->nr * sizeof(*lines);
}

static void take(struct profile *p, struct title_row *rows, size_t nr,
		 const struct reader_answer *a)
{
	const struct line *lines = a->bytes;

	if (a->sz != nr * sizeof(*lines))
		return;
	for (size_t i = 0; i < nr; i++) {
		rows[i].line = lines[i].bytes;
		rows[i].len = lines[i].len <= MAX_LINE ? lines[i].len : 0;
	}
	titles_add(p, rows, nr);
}

void command_lines_read(struct profile *p, struct reader_cost *cost)
{
	struct job j = { .profile = p };
	struct title_row *rows = titles_wanted(p, &j.nr);
	const struct reader_copy c = { .run = read_lines,
				       .arg = &j,
				       .folder = -1,
				       .timeout_ns = ALL_NS,
				       .idle_ns = HANGS_NS };
	struct reader_answer a = { .fd = -1 };
	int err;

	j.rows = rows;
	err = j.nr ? reader_copy_run(&c, &a, cost) : 0;
	if (err)
		log_warn("no command lines, to tell processes of one name apart: %s",
			 strerror(-err));
	else if (j.nr)
		take(p, rows, j.nr, &a);
	free(a.bytes);
	free(rows);
}
