/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A folder of files that may be dropped at any time. */
#include "symbol/cache_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"

#define MAX_FILES 4096

static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & 077);
}

int cache_dir_open_at(const char *path)
{
	struct stat st;
	int fd;

	fd = folder_make(path);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && is_ours(&st))
		return fd;
	close(fd);
	return -1;
}

static int open_below(const char *parent, const char *name)
{
	char *path = xasprintf("%s/%s", parent, name);
	int fd = cache_dir_open_at(path);

	free(path);
	return fd;
}

int cache_dir_open(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *given = getenv("CACHE_DIRECTORY");
	char *parent;
	int fd = -1;

	if (given && *given == '/')
		return cache_dir_open_at(given);
	if (!geteuid())
		return cache_dir_open_at("/var/cache/bpfprof");
	if (xdg && *xdg == '/')
		return open_below(xdg, "bpfprof");
	if (!home || *home != '/')
		return -1;
	parent = xasprintf("%s/.cache", home);
	fd = folder_make(parent);
	if (fd >= 0)
		close(fd);
	fd = open_below(parent, "bpfprof");
	free(parent);
	return fd;
}

int cache_dir_read(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_ours(&st)) {
		futimens(fd, NULL);
		return fd;
	}
	close(fd);
	return -1;
}

int cache_dir_write(int dir)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	return open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

struct file {
	char name[200];
	struct timespec used;
	uint64_t size;
};

static int by_use(const void *pa, const void *pb)
{
	const struct file *a = pa, *b = pb;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

static size_t list(int dir, struct file *files, uint64_t *total)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;
	struct stat st;
	size_t nr = 0;

	*total = 0;
	while (d && nr < MAX_FILES && (e = readdir(d))) {
		if (strlen(e->d_name) >= sizeof(files->name) ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		strcpy(files[nr].name, e->d_name);
		files[nr].used = st.st_mtim;
		files[nr++].size = st.st_size;
		*total += st.st_size;
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return nr;
}

static void make_room(int dir)
{
	struct file *files = xcalloc(MAX_FILES, sizeof(*files));
	uint64_t total;
	size_t nr = list(dir, files, &total);

	qsort(files, nr, sizeof(*files), by_use);
	for (size_t i = 0; i < nr && (total > CACHE_MAX_BYTES || nr - i >= MAX_FILES); i++) {
		unlinkat(dir, files[i].name, 0);
		total -= files[i].size;
	}
	free(files);
}

void cache_dir_keep(int dir, int fd, const char *name)
{
	char path[64], *beside = xasprintf("%s.%d", name, (int)getpid());

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!linkat(AT_FDCWD, path, dir, beside, AT_SYMLINK_FOLLOW) &&
	    renameat(dir, beside, dir, name))
		unlinkat(dir, beside, 0);
	free(beside);
	close(fd);
	make_room(dir);
}
