/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening mapped files. The file is looked at through O_PATH first, which neither blocks on a FIFO
 * nor wakes a device, and opened for reading only when it is regular and the very inode that was
 * mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proc/proc.h"

#include "base/clock.h"
#include "proc/maps.h"

/* Changed means: written, replaced, or an inode number that now belongs to a younger file. */
static bool is_unchanged_since(const struct stat *st, uint64_t seen_ns)
{
	uint64_t seen_real = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + seen_ns;

	return st->st_ctim.tv_sec * 1000000000ull + st->st_ctim.tv_nsec <= seen_real;
}

static bool is_same(const struct stat *st, const struct proc_open *o)
{
	return S_ISREG(st->st_mode) && st->st_ino == o->ino && major(st->st_dev) == o->dev_major &&
	       minor(st->st_dev) == o->dev_minor && is_unchanged_since(st, o->seen_ns);
}

/*
 * exact: the path leads to the mapping itself, whose device number may differ from stat's (btrfs,
 * overlayfs).
 */
static int open_checked(const char *path, const struct proc_open *o, bool exact)
{
	int fd = open(path, O_PATH | O_CLOEXEC), rd = -1;
	char link[32];
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) &&
	    (is_same(&st, o) || (exact && S_ISREG(st.st_mode) && st.st_ino == o->ino))) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		rd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	close(fd);
	return rd;
}

static int open_exact(const struct proc_open *o, uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%lx-%lx", pid, o->start, o->end);
	return open_checked(path, o, true);
}

int proc_open_exact(const struct proc_open *o)
{
	return open_exact(o, o->pid);
}

static int open_of(const struct proc_open *o, uint32_t pid)
{
	char path[sizeof(o->path) + 64];
	int fd = open_exact(o, pid);

	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, o->path);
	return open_checked(path, o, false);
}

int proc_open_mapped(const struct proc_open *o)
{
	int fd = open_of(o, o->pid);
	uint32_t other = fd < 0 ? maps_living_thread(o->pid) : o->pid;

	if (other != o->pid)
		fd = open_of(o, other);
	if (fd < 0)
		fd = open_checked(o->path, o, false);
	return fd < 0 ? -ENOENT : fd;
}

void proc_file_open(struct proc_file *f, uint32_t pid, const struct proc_mapping *m)
{
	struct proc_open o = { .start = m->start,
			       .end = m->end,
			       .ino = f->key.ino,
			       .seen_ns = f->seen_ns,
			       .dev_major = f->key.dev_major,
			       .dev_minor = f->key.dev_minor,
			       .pid = pid };

	if (f->tried)
		return;
	f->tried = true;
	if (strlen(f->path) >= sizeof(o.path))
		return;
	strcpy(o.path, f->path);
	f->fd = f->opener ? f->opener->open(f->opener->arg, &o) : proc_open_mapped(&o);
	if (f->fd < 0)
		f->fd = -1;
	else
		f->id = o.id;
	f->is_system = o.is_system;
}
