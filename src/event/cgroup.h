/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Control groups (version 2). */
#ifndef BPFPROF_EVENT_CGROUP_H
#define BPFPROF_EVENT_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "event/cpus.h"

bool cgroup_is_mounted(void);

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

/*
 * CPUs that the kernel lets a process or thread run on, by its cpuset, into an empty set. 0;
 * -ESRCH: it is gone; -ENOENT or another: any, as far as we know.
 */
int cgroup_cpus(uint32_t id, struct cpus *c);

#endif
