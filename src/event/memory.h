/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much memory we take, and may still take: of the host, our cgroup and those above it. */
#ifndef BPFPROF_EVENT_MEMORY_H
#define BPFPROF_EVENT_MEMORY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Of the one with the least room. Cached files count as room: the kernel drops them first. */
struct memory_limit {
	uint64_t limit_bytes, free_bytes;
	char cgroup[PATH_MAX]; /* as the kernel calls it: "/system.slice/x" */
};

/* Of either version of cgroups. False: there is no limit. root: "" for this host. */
bool memory_limit_read(const char *root, struct memory_limit *m);

/*
 * What only this process and its copies have, those that descend from it and did not call exec():
 * no files, and no memory of the kernel. Pages that a copy still shares count for both.
 */
uint64_t memory_own_bytes(void);

/*
 * What can be had without swapping: of the host (MemAvailable, with the files that it caches), or
 * of the cgroups if that is less. 0: not known.
 */
uint64_t memory_available(const char *root);

#endif
