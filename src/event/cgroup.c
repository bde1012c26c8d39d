/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding a cgroup's directory. */
#include "event/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/log.h"

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
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	find_mount(mount, sizeof(mount));
	if (fd < 0 && mount[0]) {
		snprintf(full, sizeof(full), "%s/%s", mount, path);
		fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
