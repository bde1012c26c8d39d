/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding a cgroup's directory, and what it says. */
#include "event/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <sched.h>
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

bool cgroup_is_mounted(void)
{
	char mount[1024];

	find_mount(mount, sizeof(mount));
	return mount[0];
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
		return log_err(-errno, "cannot open cgroup %s (%s%s)", path,
			       mount[0] ? "nor below " : "no cgroup2 is mounted", mount);
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

/* The first line of a file of a cgroup, without its end. */
static int read_line(const char *dir, const char *path, const char *name, char *line, size_t sz)
{
	char full[8192];
	FILE *f;
	int err = 0;

	snprintf(full, sizeof(full), "%s%s/%s", dir, path, name);
	f = fopen(full, "re");
	if (!f)
		return -errno;
	if (!fgets(line, sz, f))
		err = -EIO;
	else
		line[strcspn(line, "\n")] = '\0';
	fclose(f);
	return err;
}

/*
 * A path is as our namespace of cgroups has it, and the mount may be another one's. So what it
 * says is held against where the thread may run right now.
 */
static bool may_run_elsewhere(uint32_t id, const struct cpus *c)
{
	uint32_t nr = cpus_possible();
	size_t size = CPU_ALLOC_SIZE(nr);
	cpu_set_t *set = CPU_ALLOC(nr);
	bool elsewhere = !set || sched_getaffinity(id, size, set);

	for (uint32_t cpu = 0; cpu < nr && !elsewhere; cpu++)
		elsewhere = CPU_ISSET_S(cpu, size, set) && !cpus_has(c, cpu);
	if (set)
		CPU_FREE(set);
	return elsewhere;
}

/*
 * Threads of a process are in one cgroup, unless that is for threads. Those below it have no CPUs
 * that it has not, unless they were made a partition, which cannot be where it is not one itself.
 */
int cgroup_cpus(uint32_t id, struct cpus *c)
{
	char dir[64], mount[1024], path[4096], line[4096];
	int err;

	snprintf(dir, sizeof(dir), "/proc/%u", id);
	err = read_line(dir, "", "cpuset", path, sizeof(path));
	if (err)
		return err == -ENOENT ? -ESRCH : err;
	find_mount(mount, sizeof(mount));
	if (!mount[0] || !strcmp(path, "/") || strstr(path, "/..") ||
	    read_line(mount, path, "cgroup.type", line, sizeof(line)) || strcmp(line, "domain"))
		return -ENOENT;
	err = read_line(mount, path, "cpuset.cpus.effective", line, sizeof(line));
	if (err || cpus_parse(c, line))
		return err ? err : -EINVAL;
	return may_run_elsewhere(id, c) ? -ENOENT : 0;
}
