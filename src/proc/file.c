/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening mapped files. The file is looked at through O_PATH first, which neither blocks on a FIFO
 * nor wakes a device, and opened for reading only when it is regular and the very inode that was
 * mapped.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proc/proc.h"

#include "base/clock.h"

/* Changed means: written, replaced, or an inode number that now belongs to a younger file. */
static bool is_unchanged_since(const struct stat *st, uint64_t seen_ns)
{
	uint64_t seen_real = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + seen_ns;

	return st->st_ctim.tv_sec * 1000000000ull + st->st_ctim.tv_nsec <= seen_real;
}

static bool is_same(const struct stat *st, const struct proc_file *f)
{
	return S_ISREG(st->st_mode) && st->st_ino == f->key.ino &&
	       major(st->st_dev) == f->key.dev_major && minor(st->st_dev) == f->key.dev_minor &&
	       is_unchanged_since(st, f->seen_ns);
}

/*
 * exact: the path leads to the mapping itself, whose device number may differ from stat's (btrfs,
 * overlayfs).
 */
static int open_checked(const char *path, const struct proc_file *f, bool exact)
{
	int fd = open(path, O_PATH | O_CLOEXEC), rd = -1;
	char link[32];
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) &&
	    (is_same(&st, f) || (exact && S_ISREG(st.st_mode) && st.st_ino == f->key.ino))) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		rd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	close(fd);
	return rd;
}

void proc_file_open(struct proc_file *f, uint32_t pid, const struct proc_mapping *m)
{
	char path[4200];

	if (f->tried)
		return;
	f->tried = true;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%lx-%lx", pid, m->start, m->end);
	f->fd = open_checked(path, f, true);
	if (f->fd >= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, f->path);
	f->fd = open_checked(path, f, false);
	if (f->fd < 0)
		f->fd = open_checked(f->path, f, false);
}
