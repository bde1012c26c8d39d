/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walking to an output. The folders passed are a pile of descriptors, so ".." is the one that we
 * came from, wherever somebody has moved the last one to meanwhile.
 */
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#define MAX_LINKS 40 /* as the kernel */
#define FOLDER	  (O_PATH | O_DIRECTORY | O_CLOEXEC)

struct passed {
	int fd;
	bool shared; /* others can put links here, or could on the way */
};

struct way {
	struct passed *v;
	size_t nr, cap;
	char *rest; /* of the path; the string that it is in */
	char *text;
	int links;
};

long folder_sudo_id(const char *variable)
{
	const char *s = getenv(variable);
	char *end;
	long id;

	if (!s || *s < '0' || *s > '9')
		return -1;
	errno = 0;
	id = strtol(s, &end, 10);
	return errno || *end || id > INT_MAX ? -1 : id;
}

bool folder_trusts(uid_t owner)
{
	return !owner || owner == geteuid() ||
	       (!getuid() && (long)owner == folder_sudo_id("SUDO_UID"));
}

static bool is_our_group(gid_t gid)
{
	gid_t groups[64];
	int nr = getgroups(64, groups);

	for (int i = 0; i < nr; i++)
		if (groups[i] == gid)
			return true;
	return gid == getegid();
}

/* Root shares no folder with a group: access lists of others show as rights of the group, too. */
static bool others_write(const struct stat *st)
{
	if (!folder_trusts(st->st_uid))
		return true;
	if (st->st_mode & S_ISVTX)
		return false;
	return st->st_mode & S_IWOTH ||
	       (st->st_mode & S_IWGRP && (!geteuid() || !is_our_group(st->st_gid)));
}

/* Takes over fd. */
static int pass(struct way *w, int fd)
{
	bool shared = w->nr && w->v[w->nr - 1].shared;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		int err = -errno;

		if (fd >= 0)
			close(fd);
		return err;
	}
	w->v = xgrow(w->v, w->nr, &w->cap, sizeof(*w->v));
	w->v[w->nr++] = (struct passed){ fd, shared || others_write(&st) };
	return 0;
}

static void go_back(struct way *w, size_t nr)
{
	while (w->nr > nr)
		close(w->v[--w->nr].fd);
}

static int here(const struct way *w)
{
	return w->v[w->nr - 1].fd;
}

/* Where we are is not where the path comes from any more: nobody else led us there. */
static int begin_at(struct way *w, const char *folder)
{
	go_back(w, 0);
	return pass(w, open(folder, FOLDER));
}

static int go_up(struct way *w)
{
	int fd;

	if (w->nr > 1) {
		go_back(w, w->nr - 1);
		return 0;
	}
	fd = openat(here(w), "..", FOLDER);
	go_back(w, 0);
	return pass(w, fd);
}

/* The next name, cut out of the rest; NULL at its end. */
static char *next_name(struct way *w)
{
	char *name = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(name, "/");

	if (!len)
		return NULL;
	w->rest = name + len + (name[len] == '/');
	name[len] = '\0';
	return name;
}

static bool is_last(const struct way *w)
{
	return !w->rest[strspn(w->rest, "/")];
}

/* Links of /proc lead to what is open, not to what their text says. */
static bool is_of_proc(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* The link's text comes before the rest. It is the link that was looked at, whatever its name is by
 * now. */
static int go_along(struct way *w, int link)
{
	char target[PATH_MAX], *text;
	ssize_t n = readlinkat(link, "", target, sizeof(target));

	if (n < 0 || n == sizeof(target))
		return n < 0 ? -errno : -ENAMETOOLONG;
	if (!n)
		return -ENOENT;
	target[n] = '\0';
	text = xasprintf("%s/%s", target, w->rest);
	free(w->text);
	w->text = w->rest = text;
	return *target == '/' ? begin_at(w, "/") : 0;
}

static int follow(struct way *w, int link, const struct stat *st, const char *name)
{
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if (w->v[w->nr - 1].shared || !folder_trusts(st->st_uid)) {
		log_warn("%s is a link that another user may have put there: it is not followed",
			 name);
		return -EACCES;
	}
	if (!is_last(w) && is_of_proc(link))
		return pass(w, openat(here(w), name, FOLDER));
	return go_along(w, link);
}

/* A name that is no folder. 1: the way ends here, for it is the last. */
static int look_at(struct way *w, const char *name)
{
	int fd = openat(here(w), name, O_PATH | O_NOFOLLOW | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT && is_last(w) ? 1 : -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (S_ISLNK(st.st_mode))
		err = follow(w, fd, &st, name);
	else
		err = is_last(w) ? 1 : -ENOTDIR;
	close(fd);
	return err;
}

static int step(struct way *w, const char *name)
{
	int fd;

	if (!strcmp(name, "."))
		return 0;
	if (!strcmp(name, ".."))
		return go_up(w);
	if (is_last(w))
		return look_at(w, name);
	/* This way round a folder that is mounted on demand is mounted. */
	fd = openat(here(w), name, FOLDER | O_NOFOLLOW);
	return fd >= 0 ? pass(w, fd) : errno == ENOTDIR ? look_at(w, name) : -errno;
}

static int walk(struct way *w, char **last)
{
	char *name;
	int err = begin_at(w, *w->text == '/' ? "/" : ".");

	while (!err && (name = next_name(w))) {
		err = step(w, name);
		if (err > 0)
			*last = xstrdup(name);
	}
	if (!err)
		*last = xstrdup(".");
	return err < 0 ? err : 0;
}

int folder_locate(const char *path, char **name)
{
	struct way w = { .text = xstrdup(path) };
	int err = -ENOENT, fd = -1;

	*name = NULL;
	w.rest = w.text;
	if (*path)
		err = walk(&w, name);
	if (!err)
		fd = w.v[--w.nr].fd;
	go_back(&w, 0);
	free(w.text);
	free(w.v);
	return err ? err : fd;
}

int folder_make(const char *path)
{
	char *name;
	int dir = folder_locate(path, &name), fd = -1, err = 0;

	if (dir < 0)
		return dir;
	if (mkdirat(dir, name, 0700) && errno != EEXIST)
		err = -errno;
	if (!err)
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!err && fd < 0)
		err = -errno;
	close(dir);
	free(name);
	return err ? err : fd;
}

bool folder_is_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (!st.st_uid || st.st_uid == geteuid()) &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}
