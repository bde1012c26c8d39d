/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Control groups (version 2). */
#ifndef BPFPROF_EVENT_CGROUP_H
#define BPFPROF_EVENT_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Opens a cgroup given as a path of the file system, or below the cgroup2 mount
 * ("/system.slice/x.service" or "system.slice/x.service"). Returns a descriptor, or negative errno
 * after one sentence.
 */
int cgroup_open(const char *path);

/* The kernel's number of an open cgroup. */
uint64_t cgroup_id(int fd);

/* Its path below the cgroup2 mount, "/" for the root; NULL when it is gone. To be freed. */
char *cgroup_path(uint64_t id);

/* The path of a thread's cgroup, as /proc says it. 0 or negative errno. */
int cgroup_of(uint32_t tid, char *path, size_t sz);

/*
 * Opens the cgroup of that path if it is certainly what /proc means: the thread's process is in it,
 * and it is not the root, in which CPUs idle. A descriptor or negative errno, not logged.
 */
int cgroup_open_of(uint32_t pid, const char *path);

#endif
