/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding a cgroup's directory. */
#include "event/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#define KERNFS_HANDLE 0xfe /* FILEID_KERNFS */

/* Where cgroup2 is mounted; "" when it is not. */
static void find_mount(char *dir, size_t sz)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	dir[0] = '\0';
	while (f && (m = getmntent(f)))
		if (!strcmp(m->mnt_type, "cgroup2")) {
			snprintf(dir, sz, "%s", m->mnt_dir);
			break;
		}
	if (f)
		endmntent(f);
}

int cgroup_open(const char *path)
{
	char mount[1024], full[4096];
	struct statfs fs;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), below;

	find_mount(mount, sizeof(mount));
	/* "/" is a directory, and the root of all cgroups, which is what is meant. */
	if (mount[0] && (fd < 0 || fstatfs(fd, &fs) || fs.f_type != CGROUP2_SUPER_MAGIC)) {
		snprintf(full, sizeof(full), "%s/%s", mount, path);
		below = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (below >= 0 && fd >= 0)
			close(fd);
		if (below >= 0)
			fd = below;
	}
	if (fd < 0)
		return log_err(-errno, "cannot open cgroup %s (looked in %s too)", path,
			       mount[0] ? mount : "no cgroup2 mount, there is none, and");
	if (!fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	close(fd);
	log_err(0, "%s is not a cgroup of version 2%s%s", path,
		mount[0] ? ": those lie below " : "; none is mounted", mount);
	return -EINVAL;
}

/* The number of its directory is that of the cgroup, on 64-bit kernels. */
uint64_t cgroup_id(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

/* A handle is how a file system finds a file by its number; of kernfs it is nothing but that. */
char *cgroup_path(uint64_t id)
{
	struct {
		struct file_handle head;
		uint64_t id;
	} handle = { { sizeof(id), KERNFS_HANDLE }, id };
	char mount[1024], link[64], path[4096];
	int dir, fd;
	ssize_t len;

	find_mount(mount, sizeof(mount));
	dir = mount[0] ? open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (dir < 0)
		return NULL;
	memcpy(handle.head.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(dir, &handle.head, O_PATH | O_CLOEXEC);
	close(dir);
	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	close(fd);
	if (len < 0)
		return NULL;
	path[len] = '\0';
	if (!strcmp(path, mount))
		return xstrdup("/");
	return xstrdup(strncmp(path, mount, strlen(mount)) ? path : path + strlen(mount));
}

int cgroup_of(uint32_t tid, char *path, size_t sz)
{
	char name[64], line[4096];
	int err = -ENOENT;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/cgroup", tid);
	f = fopen(name, "re");
	if (!f)
		return -errno;
	while (err && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4))
			continue;
		err = (size_t)snprintf(path, sz, "%s", line + 3) < sz ? 0 : -ENAMETOOLONG;
	}
	fclose(f);
	return err;
}

/* Of a threaded cgroup the list cannot be read. */
static bool has_process(int dir, uint32_t pid)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	bool found = false;
	unsigned int one;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && fscanf(f, "%u", &one) == 1)
		found = one == pid;
	fclose(f);
	return found;
}

int cgroup_open_of(uint32_t pid, const char *path)
{
	char mount[1024], full[4096];
	int fd;

	find_mount(mount, sizeof(mount));
	if (!mount[0] || (size_t)snprintf(full, sizeof(full), "%s%s", mount, path) >= sizeof(full))
		return -ENOENT;
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The root alone has no such file. */
	if (!faccessat(fd, "cgroup.events", F_OK, 0) && has_process(fd, pid))
		return fd;
	close(fd);
	return -ENOENT;
}
