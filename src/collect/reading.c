/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of tasks, and the opener of mapped files. */
#include "collect/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "bpf/prof.h"
#include "collect/mappings.h"
#include "proc/maps.h"
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
	[READER_MAPS] = { true, mappings_do_read },
};

bool reading_is_silent(const struct reading *r, uint32_t pid)
{
	for (size_t i = 0; i < READING_SILENT; i++)
		if (r->silent[i] == pid)
			return true;
	return false;
}

void reading_add_silent(struct reading *r, uint32_t pid)
{
	char name[PROF_COMM_LEN], *shown;

	r->silent[r->nr_silent++ % READING_SILENT] = pid;
	if (maps_read_name(pid, name, sizeof(name)) || !reader_tells(&r->nr_told))
		return;
	shown = text_cleaned(name);
	log_warn("%s (%u): nobody can look at its mappings, so its code may have no names", shown,
		 pid);
	free(shown);
}

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
	case -EAGAIN:
	case -ENOMEM:
	case -EMFILE:
		return strerror(-err);
	}
	return NULL;
}

static int ask(const struct reading *r, const struct proc_open *what, struct reader_answer *a)
{
	struct reader_question q = { .task = READER_OPEN,
				     .bytes = what,
				     .sz = offsetof(struct proc_open, path) + strlen(what->path) +
					   1,
				     .timeout_ns = r->nr_hung < TIRED ? OPEN_NS : TIRED_NS };

	return reader_ask(r->reader, &q, a);
}

/*
 * First by its mapping. When that takes too long, it is the process that keeps us waiting, or the
 * file system; by path it is the file system alone.
 */
static int ask_twice(struct reading *r, struct proc_open *what, struct reader_answer *a)
{
	int err;

	what->by_path = reading_is_silent(r, what->pid);
	err = ask(r, what, a);
	if (err != -ETIMEDOUT || what->by_path)
		return err;
	what->by_path = true;
	err = ask(r, what, a);
	if (err != -ETIMEDOUT)
		reading_add_silent(r, what->pid);
	return err;
}

/* Of a device that did not answer nothing else is opened. */
static int ask_open(void *arg, struct proc_open *what)
{
	struct reading *r = arg;
	int fd = open_system(r, what), err;
	struct reader_answer a;

	if (fd >= 0)
		return fd;
	if (r->nr_hung && what->dev_major == r->slow_major && what->dev_minor == r->slow_minor)
		return -EIO;
	err = ask_twice(r, what, &a);
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
	r->mapper = (struct proc_mapper){ mappings_read, r };
	for (size_t i = 0; i < 2; i++) {
		int fd = open(i ? "/usr" : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

		r->system[i].folder = fd;
		if (fd < 0 || fstat(fd, &st))
			continue;
		r->system[i].major = major(st.st_dev);
		r->system[i].minor = minor(st.st_dev);
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
