/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits of memory cgroups, from our own up to the root of the mount. */
#include "event/memory.h"

#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_LIMIT (1ull << 60) /* version 1 has a number for it, in whole pages */
#define COPY	 0x40u	      /* PF_FORKNOEXEC: it has forked, and runs what its parent ran */

/* The same in both versions, under other names. */
struct version {
	const char *type, *option; /* of the mount; option NULL: any */
	const char *limit, *used, *active, *inactive;
};
static const struct version versions[] = {
	{ "cgroup", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file",
	  "total_inactive_file" },
	{ "cgroup2", NULL, "memory.max", "memory.current", "active_file", "inactive_file" },
};

static bool is_of(const struct version *v, const struct mntent *m)
{
	return !strcmp(m->mnt_type, v->type) && (!v->option || hasmntopt(m, v->option));
}

/* Where it is mounted, below root. */
static bool find_mount(const char *root, const struct version *v, char dir[PATH_MAX])
{
	char path[PATH_MAX];
	struct mntent *m;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/self/mounts", root);
	f = setmntent(path, "re");
	while (f && !found && (m = getmntent(f))) {
		found = is_of(v, m);
		if (found)
			snprintf(dir, PATH_MAX, "%s%s", root, m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return found;
}

/* "4:memory:/x" of version 1, "0::/x" of version 2. */
static bool is_line_of(const struct version *v, const char *controllers)
{
	size_t len = v->option ? strlen(v->option) : 0;
	const char *at = controllers;

	if (!v->option)
		return *at == ':';
	for (; at && strncmp(at, v->option, len); at = strpbrk(at, ",:")) {
		if (*at == ':')
			return false;
		at += *at == ',';
		if (!strncmp(at, v->option, len))
			break;
	}
	return at && (at[len] == ',' || at[len] == ':');
}

static bool find_own(const char *root, const struct version *v, char cgroup[PATH_MAX])
{
	char path[PATH_MAX], line[PATH_MAX + 64], *at, *name;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		at = strchr(line, ':');
		name = at ? strchr(at + 1, ':') : NULL;
		found = name && is_line_of(v, at + 1);
		if (found)
			snprintf(cgroup, PATH_MAX, "%s", name + 1);
	}
	if (f)
		fclose(f);
	return found;
}

/* The number in a file, or behind a key in it; fallback without, and for "max". */
static uint64_t read_number(const char *dir, const char *name, const char *key, uint64_t fallback)
{
	char path[2 * PATH_MAX], line[256];
	uint64_t value = fallback;
	size_t len = key ? strlen(key) : 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (key && (strncmp(line, key, len) || line[len] != ' '))
			continue;
		sscanf(line + len, "%" SCNu64, &value);
		break;
	}
	if (f)
		fclose(f);
	return value;
}

static void look(const struct version *v, const char *dir, const char *cgroup,
		 struct memory_limit *m)
{
	uint64_t limit = read_number(dir, v->limit, NULL, UINT64_MAX);
	uint64_t used = read_number(dir, v->used, NULL, 0);
	uint64_t files = read_number(dir, "memory.stat", v->active, 0) +
			 read_number(dir, "memory.stat", v->inactive, 0);
	uint64_t free_bytes;

	used -= used < files ? used : files;
	free_bytes = limit > used ? limit - used : 0;
	if (limit >= NO_LIMIT || free_bytes >= m->free_bytes)
		return;
	m->limit_bytes = limit;
	m->free_bytes = free_bytes;
	snprintf(m->cgroup, sizeof(m->cgroup), "%s", *cgroup ? cgroup : "/");
}

/* In a container the path may be that of the host, which is not there: then only the mount is. */
static void look_up(const char *root, const struct version *v, struct memory_limit *m)
{
	char mount[PATH_MAX], cgroup[PATH_MAX], dir[2 * PATH_MAX], *end;

	if (!find_mount(root, v, mount) || !find_own(root, v, cgroup))
		return;
	for (;;) {
		snprintf(dir, sizeof(dir), "%s%s", mount, cgroup);
		look(v, dir, cgroup, m);
		end = strrchr(cgroup, '/');
		if (!end)
			return;
		*end = '\0';
	}
}

bool memory_limit_read(const char *root, struct memory_limit *m)
{
	*m = (struct memory_limit){ .free_bytes = UINT64_MAX };
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		look_up(root, &versions[i], m);
	return m->free_bytes != UINT64_MAX;
}

/* Who called exec() is somebody else: the profiled program, and children of whoever became us. */
static bool is_copy(pid_t pid)
{
	char path[64], line[512] = "", *at;
	unsigned int flags = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	at = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL; /* names hold anything */
	fclose(f);
	return at && sscanf(at, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && flags & COPY;
}

/* Pages that belong to nobody else, of it and of the copies that its first thread has forked. */
static uint64_t own_pages(pid_t pid)
{
	unsigned long long resident = 0, shared = 0;
	char path[64];
	uint64_t sum;
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%*u %llu %llu", &resident, &shared) != 2)
		resident = shared = 0;
	fclose(f);
	sum = resident > shared ? resident - shared : 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		if (is_copy(child))
			sum += own_pages(child);
	if (f)
		fclose(f);
	return sum;
}

uint64_t memory_own_bytes(void)
{
	return own_pages(getpid()) * sysconf(_SC_PAGESIZE);
}

uint64_t memory_available(const char *root)
{
	uint64_t bytes = read_number(root, "proc/meminfo", "MemAvailable:", 0) << 10;
	struct memory_limit m;

	return memory_limit_read(root, &m) && m.free_bytes < bytes ? m.free_bytes : bytes;
}
