/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of tasks, and the opener of mapped files. */
#include "collect/reading.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/capture.h"
#include "collect/capture_python.h"
#include "collect/command_lines.h"
#include "collect/points_files.h"
#include "proc/maps.h"
#include "python/ask.h"
#include "reader/peek.h"
#include "unwind/reading.h"

#define OPEN_NS	 300000000ull /* a file system that is there answers in microseconds */
#define TIRED_NS 20000000ull  /* when several did not */
#define TIRED	 3
#define TOLD	 3 /* sentences about mappings that could not be read */

static int open_mapped(struct reader_work *w)
{
	struct proc_open o;

	if (w->question_sz > sizeof(o) || w->question_sz < offsetof(struct proc_open, path))
		return -EINVAL;
	memset(&o, 0, sizeof(o));
	memcpy(&o, w->question, w->question_sz);
	w->fd = proc_open_mapped(&o);
	if (w->fd < 0)
		return w->fd;
	o.id = file_id_read(w->fd);
	memcpy(w->answer, &o.id, sizeof(o.id));
	w->sz = sizeof(o.id);
	return 0;
}

static ssize_t copy_maps(const void *pid, void *answer, size_t max)
{
	return maps_copy(*(const uint32_t *)pid, answer, max);
}

static const struct reader_task tasks[READER_NR] = {
	[READER_OPEN] = { .opens = true, .run = open_mapped },
	[READER_JIT_FILES] = { .opens = true, .run = capture_do_open_jit },
	[READER_JAVA] = { .opens = true, .run = capture_do_ask_java },
	[READER_HEADERS] = { .run = reading_headers },
	[READER_TABLE] = { .run = reading_table },
	[READER_PYTHON] = { .run = python_do_find },
	[READER_PYTHON_CODES] = { .run = python_do_codes },
	[READER_MEMORY] = { .each = peek_each, .row_sz = sizeof(struct peek) },
	[READER_PYTHON_CHAIN] = { .each = capture_python_chain,
				  .row_sz = sizeof(struct python_chain) },
	[READER_COMMAND_LINES] = { .each = command_lines_each,
				   .row_sz = sizeof(struct command_line) },
	[READER_POINTS_FIND] = { .opens = true, .run = points_do_find },
	[READER_POINTS_DEBUG] = { .opens = true, .run = points_do_debug },
	[READER_POINTS] = { .run = points_do_search },
	[READER_POINTS_TOUCH] = { .run = points_do_touch },
	[READER_MAPS] = { .each = copy_maps, .row_sz = sizeof(uint32_t) },
};

/* Below /usr, or "" of another. */
static const char *below_usr(const char *path)
{
	return strncmp(path, "/usr/", 5) ? "" : path + 5;
}

/*
 * What root alone may write, on the file systems of this machine's own programs, is no stranger's:
 * it is opened and read here, by a path that does not leave them. Asking others takes time while
 * stacks wait for tables, most of all where all CPUs are wanted.
 */
static int open_system(const struct reading *r, struct proc_open *what)
{
	struct stat st;
	int fd = -1;

	for (size_t i = 0; i < 2 && fd < 0; i++) {
		const char *at = i ? below_usr(what->path) : what->path + 1;

		if (what->path[0] == '/' && *at && what->dev_major == r->system[i].major &&
		    what->dev_minor == r->system[i].minor)
			fd = proc_open_below(what, r->system[i].folder, at);
	}
	if (fd < 0)
		return -1;
	what->is_system = !fstat(fd, &st) && !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH));
	if (what->is_system) {
		what->id = file_id_read(fd);
		return fd;
	}
	close(fd);
	return -1;
}

/* NULL: it is gone, or somebody else's by now, as happens. */
static const char *says_why(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "its file system does not answer";
	case -EPIPE:
		return "the process that opened it died";
	case -EBUSY:
		return "too many that read files hung or were ended";
	case -EAGAIN:
	case -ENOMEM:
	case -EMFILE:
		return strerror(-err);
	}
	return NULL;
}

/* Of a device that did not answer nothing else is opened. */
static int ask_open(void *arg, struct proc_open *what)
{
	struct reading *r = arg;
	int fd = open_system(r, what);
	struct reader_question q = { .task = READER_OPEN,
				     .bytes = what,
				     .sz = offsetof(struct proc_open, path) + strlen(what->path) +
					   1,
				     .timeout_ns = r->nr_hung < TIRED ? OPEN_NS : TIRED_NS };
	struct reader_answer a;
	int err;

	if (fd >= 0)
		return fd;
	what->by_path = !peek_answers(r->reader, what->pid);
	if (r->nr_hung && what->dev_major == r->slow_major && what->dev_minor == r->slow_minor)
		return -EIO;
	err = reader_ask(r->reader, &q, &a);
	if (!err) {
		if (a.sz == sizeof(what->id))
			memcpy(&what->id, a.bytes, sizeof(what->id));
		free(a.bytes);
		return a.fd < 0 ? -ENOENT : a.fd;
	}
	if (err == -ETIMEDOUT) {
		r->nr_hung++;
		r->slow_major = what->dev_major;
		r->slow_minor = what->dev_minor;
	}
	if (says_why(err) && reader_tells(&r->nr_told))
		log_warn("%s: %s: %s", what->path, says_why(err),
			 r->cost ? r->cost
				 : "its code has no names, and is walked by frame pointer");
	return err;
}

struct mappings {
	struct reading *r;
	const uint32_t *pids;
	void (*take)(void *to, size_t i, const void *lines, ssize_t len);
	void *to;
	const char *why; /* the first of these could not be read, or NULL */
	uint32_t first;	 /* its PID */
	size_t nr_lost;
};

/* Of one that does not answer the reader tells; those that are gone happen. */
static void take_mappings(void *arg, size_t i, const void *lines, ssize_t len)
{
	struct mappings *m = arg;
	const char *why = len == -EPIPE			 ? "the process that reads them died"
			  : len < 0 && len != -ETIMEDOUT ? says_why((int)len)
							 : NULL;

	if (why && !m->nr_lost++) {
		m->why = why;
		m->first = m->pids[i];
	}
	m->take(m->to, i, lines, len);
}

/* One sentence for all, and few of these, counted apart: of the files some are named as well. */
static void read_maps(void *arg, const uint32_t *pids, size_t nr,
		      void (*take)(void *to, size_t i, const void *lines, ssize_t len), void *to)
{
	struct mappings m = { .r = arg, .pids = pids, .take = take, .to = to };

	reader_ask_each(m.r->reader, READER_MAPS, pids, nr, take_mappings, &m);
	if (!m.nr_lost || m.r->nr_unmapped_told > TOLD)
		return;
	if (m.r->nr_unmapped_told++ == TOLD)
		log_warn("the mappings of more processes could not be read: these are not listed");
	else if (m.nr_lost == 1)
		log_warn(
			"process %u: its mappings could not be read: %s: its stacks may be broken, "
			"and its code has no names",
			m.first, m.why);
	else
		log_warn("process %u and %zu more: their mappings could not be read: %s: their "
			 "stacks may be broken, and their code has no names",
			 m.first, m.nr_lost - 1, m.why);
}

int reading_open(struct reading *r)
{
	struct stat st;

	*r = (struct reading){ .reader = reader_new(tasks, READER_NR) };
	if (!r->reader)
		return log_err(-errno, "cannot start the process that reads the files of others");
	r->opener = (struct proc_opener){ ask_open, r };
	r->mapper = (struct proc_mapper){ read_maps, r };
	for (size_t i = 0; i < 2; i++) {
		struct reading_device *d = &r->system[i];

		d->folder = open(i ? "/usr" : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (d->folder < 0 || fstat(d->folder, &st))
			continue;
		d->major = major(st.st_dev);
		d->minor = minor(st.st_dev);
	}
	return 0;
}

void reading_close(struct reading *r)
{
	for (size_t i = 0; r->reader && i < 2; i++)
		if (r->system[i].folder >= 0)
			close(r->system[i].folder);
	reader_free(r->reader);
}

struct looks {
	struct peek *rows, *silent;
	size_t nr, cap, nr_silent, cap_silent;
};

static void take_look(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	struct looks *l = arg;

	if (sz != -ETIMEDOUT)
		return;
	l->silent = xgrow(l->silent, l->nr_silent, &l->cap_silent, sizeof(*l->silent));
	l->silent[l->nr_silent++] = l->rows[i];
}

static void list_processes(struct looks *l)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		l->rows = xgrow(l->rows, l->nr, &l->cap, sizeof(*l->rows));
		l->rows[l->nr++] = (struct peek){ strtoul(e->d_name, NULL, 10), 1, 0 };
	}
	if (dir)
		closedir(dir);
}

/* Beside load, who just has his turn with the lock may need more than a usual look has. */
static bool stays_silent(struct reading *r, struct peek *row)
{
	struct looks l = { .rows = row };

	if (reader_pardon(r->reader, row->pid))
		reader_ask_each(r->reader, READER_MEMORY, row, 1, take_look, &l);
	else
		l.nr_silent = 1;
	free(l.silent);
	return l.nr_silent;
}

uint32_t reading_find_silent(struct reading *r)
{
	struct looks l = {};
	uint32_t pid = 0;

	list_processes(&l);
	reader_ask_each(r->reader, READER_MEMORY, l.rows, l.nr, take_look, &l);
	for (size_t i = 0; i < l.nr_silent && !pid; i++)
		if (stays_silent(r, &l.silent[i]))
			pid = l.silent[i].pid;
	free(l.rows);
	free(l.silent);
	return pid;
}
