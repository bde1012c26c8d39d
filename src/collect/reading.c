/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of tasks, and the opener of mapped files. */
#include "collect/reading.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/log.h"
#include "python/ask.h"
#include "unwind/reading.h"

#define OPEN_NS	 300000000ull /* a file system that is there answers in microseconds */
#define TIRED_NS 20000000ull  /* when several did not */
#define TIRED	 3

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

static const struct reader_task tasks[READER_NR] = {
	[READER_OPEN] = { true, open_mapped },
	[READER_HEADERS] = { false, reading_headers },
	[READER_TABLE] = { false, reading_table },
	[READER_PYTHON] = { false, python_do_find },
	[READER_PYTHON_CODES] = { false, python_do_codes },
};

/*
 * What root alone may write, on the file systems of this machine's own programs, is no stranger's:
 * it is opened and read here. Asking others takes time while stacks wait for tables, most of all
 * where all CPUs are wanted.
 */
static int open_system(const struct reading *r, struct proc_open *what)
{
	bool is_ours = false;
	struct stat st;
	int fd;

	for (size_t i = 0; i < 2; i++)
		is_ours |= what->dev_major == r->system[i].major &&
			   what->dev_minor == r->system[i].minor;
	fd = is_ours ? proc_open_exact(what) : -1;
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
		log_warn("%s: %s: its code has no names, and is walked by frame pointer",
			 what->path, says_why(err));
	return err;
}

int reading_open(struct reading *r)
{
	struct stat st;

	*r = (struct reading){ .reader = reader_new(tasks, READER_NR) };
	if (!r->reader)
		return log_err(-errno, "cannot start the process that reads the files of others");
	r->opener = (struct proc_opener){ ask_open, r };
	for (size_t i = 0; i < 2; i++)
		if (!stat(i ? "/usr" : "/", &st))
			r->system[i] =
				(struct reading_device){ major(st.st_dev), minor(st.st_dev) };
	return 0;
}

void reading_close(struct reading *r)
{
	reader_free(r->reader);
}
