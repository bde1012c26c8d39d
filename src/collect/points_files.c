/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which files there are, and opening them: by children, since any may lie where nobody answers. */
#include "collect/points_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/points_asking.h"
#include "proc/maps.h"
#include "reader/peek.h"
#include "symbol/companion.h"
#include "symbol/source.h"
#include "uprobe/target.h"

#define FIND_NS	  3000000000ull /* names may lie on a cold disk */
#define MAX_FILES 8192		/* that processes have mapped */

/* A file that some process has mapped. */
struct mapped {
	struct proc_open what;
	char *name;	 /* what it was called then */
	bool is_deleted; /* since */
	bool tried;
	int err;
	struct point_file *file;
};

struct points_files {
	struct reading reading;
	struct mapped *mapped;
	size_t nr_mapped, cap_mapped;
	struct point_file **v; /* open ones */
	size_t nr, cap;
	uint32_t pid;	      /* whose mappings are being taken, */
	const uint32_t *pids; /* of these */
};

/* --- children --- */

/* What a target leads to. Behind it are two strings: its path, and that without links. */
struct found {
	struct file_id id;
	uint64_t ino;
	uint32_t dev_major, dev_minor;
};

static int open_regular(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		err = -errno;
	else if (!S_ISREG(st->st_mode))
		err = -ENOEXEC;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int put_found(struct reader_work *w, const char *path, const struct stat *st)
{
	char *real = realpath(path, NULL), *to = w->answer;
	const struct found f = { .id = file_id_read(w->fd),
				 .ino = st->st_ino,
				 .dev_major = major(st->st_dev),
				 .dev_minor = minor(st->st_dev) };
	int len;

	memcpy(to, &f, sizeof(f));
	len = snprintf(to + sizeof(f), w->max_sz - sizeof(f), "%s%c%s", path, 0,
		       real ? real : path);
	w->sz = sizeof(f) + len + 1;
	free(real);
	return 0;
}

/* The question is a target. Why there is none, in words, is an answer too. */
int points_do_find(struct reader_work *w)
{
	const char *target = w->question;
	struct stat st;
	char *path, *why;

	if (!w->question_sz || target[w->question_sz - 1])
		return -EINVAL;
	path = target_find(target, &why);
	if (path)
		w->fd = open_regular(path, &st);
	if (path && w->fd >= 0)
		return put_found(w, path, &st);
	if (path)
		why = w->fd == -ENOEXEC ? xasprintf("%s is no ELF file", path)
					: xasprintf("cannot open %s: %s", path, strerror(-w->fd));
	w->fd = -1;
	w->sz = strlen(why) + 1;
	memcpy(w->answer, why, w->sz);
	return 0;
}

int points_do_debug(struct reader_work *w)
{
	const struct companion_wants *wants = w->question;
	int fds[COMPANION_MAX_FILES];
	size_t nr;

	if (w->question_sz != sizeof(*wants) || wants->build_id_len > sizeof(wants->build_id))
		return -EINVAL;
	nr = companion_open_debug(wants, "", SYMBOL_DEBUG_DIR, fds);
	w->fd = nr ? fds[0] : -1; /* by its build-id there is one */
	return 0;
}

/* --- the files of processes --- */

static struct points_files *files_of(struct points *p)
{
	if (p->files)
		return p->files;
	p->files = xcalloc(1, sizeof(*p->files));
	if (reading_open(&p->files->reading)) {
		free(p->files);
		p->files = NULL;
		return NULL;
	}
	p->files->reading.cost = "no probe is placed in it";
	return p->files;
}

struct reader *points_reader(const struct points *p)
{
	return p->files->reading.reader;
}

static void take_line(void *arg, const struct maps_line *line)
{
	static const char deleted[] = " (deleted)";
	struct points_files *fs = arg;
	struct mapped m = { .what = { .start = line->start,
				      .end = line->end,
				      .ino = line->ino,
				      .seen_ns = now_ns(),
				      .dev_major = line->dev_major,
				      .dev_minor = line->dev_minor,
				      .pid = fs->pid } };
	size_t len = strlen(line->path), tail = sizeof(deleted) - 1;

	if (line->path[0] != '/' || len >= sizeof(m.what.path) || fs->nr_mapped == MAX_FILES)
		return;
	for (size_t i = 0; i < fs->nr_mapped; i++) {
		const struct proc_open *o = &fs->mapped[i].what;

		if (o->ino == line->ino && o->dev_major == line->dev_major &&
		    o->dev_minor == line->dev_minor)
			return;
	}
	memcpy(m.what.path, line->path, len + 1);
	m.is_deleted = len > tail && !strcmp(line->path + len - tail, deleted);
	m.name = xstrndup(line->path, m.is_deleted ? len - tail : len);
	fs->mapped = xgrow(fs->mapped, fs->nr_mapped, &fs->cap_mapped, sizeof(*fs->mapped));
	fs->mapped[fs->nr_mapped++] = m;
}

static void take_lines(void *arg, size_t i, const void *lines, ssize_t len)
{
	struct points_files *fs = arg;
	char *text;

	if (len <= 0)
		return;
	fs->pid = fs->pids[i];
	text = xmalloc(len);
	memcpy(text, lines, len);
	maps_take(text, len, take_line, fs);
	free(text);
}

/* Of processes that answer: where one keeps the lock of its mappings, no probe can be placed. */
static void read_mapped(struct points_files *fs, const struct opt_ids *pids)
{
	uint32_t *asked = xcalloc(pids->nr + 1, sizeof(*asked));
	size_t nr = 0;

	for (size_t i = 0; i < pids->nr; i++)
		if (peek_answers(fs->reading.reader, pids->v[i]))
			asked[nr++] = pids->v[i];
	fs->pids = asked;
	fs->reading.mapper.read(fs->reading.mapper.arg, asked, nr, take_lines, fs);
	fs->pids = NULL;
	free(asked);
}

size_t points_nr_mapped(struct points *p)
{
	bool known = p->files;
	struct points_files *fs = files_of(p);

	if (fs && !known && p->opts->pids)
		read_mapped(fs, p->opts->pids);
	return fs ? fs->nr_mapped : 0;
}

const char *points_mapped_name(const struct points *p, size_t i)
{
	return p->files->mapped[i].name;
}

/* --- opening --- */

/* Two containers have a file each of one path. */
static const char *path_of_its_own(struct points *p, const char *path, uint32_t pid)
{
	struct points_files *fs = p->files;
	char *own = NULL;

	for (size_t i = 0; i < fs->nr && !own; i++)
		if (!strcmp(fs->v[i]->path, path))
			own = pid ? xasprintf("/proc/%u/root%s", pid, path)
				  : xasprintf("%s (number %zu of that name)", path, fs->nr);
	return own ? own : xstrdup(path);
}

/* Takes over fd. */
static struct point_file *add_file(struct points *p, int fd, const struct file_id *id,
				   const char *shown, uint32_t pid)
{
	struct points_files *fs = p->files;
	struct point_file *f = xcalloc(1, sizeof(*f));

	f->path = path_of_its_own(p, shown, pid);
	f->shown = xstrdup(shown);
	f->fd = fd;
	f->id = *id;
	snprintf(f->at, sizeof(f->at), "/proc/self/fd/%d", fd);
	fs->v = xgrow(fs->v, fs->nr, &fs->cap, sizeof(*fs->v));
	fs->v[fs->nr++] = f;
	return f;
}

int points_open_mapped(struct points *p, size_t i, const struct point_file **f)
{
	struct points_files *fs = p->files;
	struct mapped *m = &fs->mapped[i];
	int fd;

	if (!m->tried) {
		m->tried = true;
		fd = fs->reading.opener.open(fs->reading.opener.arg, &m->what);
		m->err = fd < 0 ? fd : 0;
		if (fd >= 0)
			m->file = add_file(p, fd, &m->what.id, m->name, m->what.pid);
	}
	*f = m->file;
	return m->err;
}

int points_for_each_file(struct points *p, int (*fn)(void *arg, const struct point_file *f),
			 void *arg)
{
	const struct point_file *f;
	int err = 0;

	points_nr_mapped(p);
	if (!p->files)
		return -errno ?: -EAGAIN;
	for (size_t i = 0; i < p->files->nr_mapped && !err; i++)
		if (!points_open_mapped(p, i, &f))
			err = fn(arg, f);
	return err;
}

bool points_are_gone(const struct points *p)
{
	const struct opt_ids *pids = p->opts->pids;

	if (!pids || !pids->nr)
		return false;
	for (size_t i = 0; i < pids->nr; i++)
		if (maps_is_alive(pids->v[i]))
			return false;
	log_err(0, "process %" PRIu32 "%s exited before a probe was placed", pids->v[0],
		pids->nr > 1 ? " and the others have" : " has");
	return true;
}

/* By what they are called: the one that is still there rather than one that was deleted. */
static size_t find_meant(const struct points_files *fs, const char *target)
{
	size_t i, first = fs->nr_mapped;

	for (i = 0; i < fs->nr_mapped; i++) {
		const struct mapped *m = &fs->mapped[i];
		bool same = first < fs->nr_mapped ? !strcmp(m->name, fs->mapped[first].name)
						  : target_is_meant(m->name, target);

		if (same && first == fs->nr_mapped)
			first = i;
		if (same && !m->is_deleted)
			return i;
	}
	return first;
}

/* The same file by what a path leads to, or one that had that path. */
static size_t find_mapped(const struct points_files *fs, const struct found *of, const char *path,
			  const char *real)
{
	size_t known = fs->nr_mapped;

	for (size_t i = 0; i < fs->nr_mapped; i++) {
		const struct mapped *m = &fs->mapped[i];

		if (m->what.ino == of->ino && m->what.dev_major == of->dev_major &&
		    m->what.dev_minor == of->dev_minor)
			return i;
		if (known == fs->nr_mapped && (!strcmp(m->name, path) || !strcmp(m->name, real)))
			known = i;
	}
	return known;
}

/* Two strings behind the head. */
static bool is_found(const struct reader_answer *a, struct found *f, const char **path,
		     const char **real)
{
	const char *bytes = a->bytes, *end = bytes + a->sz;

	if (a->fd < 0 || a->sz < sizeof(*f) + 4 || end[-1])
		return false;
	memcpy(f, bytes, sizeof(*f));
	*path = bytes + sizeof(*f);
	*real = *path + strlen(*path) + 1;
	return *real < end;
}

/* An open file of that path; it may be open already. */
static struct point_file *known_file(const struct points_files *fs, const struct file_id *id,
				     const char *path)
{
	for (size_t i = 0; i < fs->nr; i++)
		if (!strcmp(fs->v[i]->path, path) && file_id_equals(&fs->v[i]->id, id))
			return fs->v[i];
	return NULL;
}

static int take_found(struct points *p, struct reader_answer *a, const struct point_file **f,
		      char **why)
{
	const char *path, *real;
	struct found found;
	size_t i;

	if (!is_found(a, &found, &path, &real)) {
		*why = a->sz ? text_cleaned(a->bytes) : xstrdup("cannot open it");
		return -ENOENT;
	}
	i = find_mapped(p->files, &found, path, real);
	*f = known_file(p->files, &found.id, path);
	if (i < p->files->nr_mapped && !points_open_mapped(p, i, f)) {
		close(a->fd);
		return 0;
	}
	if (*f)
		close(a->fd);
	else
		*f = add_file(p, a->fd, &found.id, path, 0);
	return 0;
}

int points_open_target(struct points *p, const char *target, const struct point_file **f,
		       char **why)
{
	size_t nr = points_nr_mapped(p), i;
	struct reader_question q = { .task = READER_POINTS_FIND,
				     .bytes = target,
				     .sz = strlen(target) + 1,
				     .timeout_ns = FIND_NS };
	struct reader_answer a;
	int err;

	*why = NULL;
	if (!p->files)
		return -EAGAIN;
	i = find_meant(p->files, target);
	if (i < nr && !points_open_mapped(p, i, f))
		return 0;
	err = points_ask(p->files->reading.reader, &q, &a, target);
	if (err)
		return err;
	if (a.sz && ((char *)a.bytes)[a.sz - 1]) /* not what the task answers */
		((char *)a.bytes)[a.sz - 1] = '\0';
	err = take_found(p, &a, f, why);
	free(a.bytes);
	return err;
}

bool points_is_mapped(const struct points *p, const struct point_file *f)
{
	for (size_t i = 0; i < p->files->nr_mapped; i++)
		if (p->files->mapped[i].file == f)
			return true;
	return false;
}

int points_check_early(struct points *p, const struct calls_opts *o)
{
	return p->files ? points_check(&p->files->reading, o) : 0;
}

void points_files_end(struct points_files *fs)
{
	reading_close(&fs->reading);
	fs->reading = (struct reading){};
}

void points_files_free(struct points_files *fs)
{
	if (!fs)
		return;
	for (size_t i = 0; i < fs->nr; i++) {
		close(fs->v[i]->fd);
		free((char *)fs->v[i]->path);
		free((char *)fs->v[i]->shown);
		free(fs->v[i]);
	}
	for (size_t i = 0; i < fs->nr_mapped; i++)
		free(fs->mapped[i].name);
	free(fs->v);
	free(fs->mapped);
	reading_close(&fs->reading);
	free(fs);
}
