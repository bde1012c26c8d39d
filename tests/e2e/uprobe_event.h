/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A perf event that counts how often an instruction of a file is executed. */
#ifndef BPFPROF_TESTS_UPROBE_EVENT_H
#define BPFPROF_TESTS_UPROBE_EVENT_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the first thread of a process, from its exec on; of this thread, from now on, for pid 0. */
static inline int uprobe_event_open(const char *path, uint64_t offset, pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config1 = (uintptr_t)path,
		.config2 = offset,
		.disabled = pid != 0,
		.enable_on_exec = pid != 0,
	};
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
	unsigned int type;
	int fd;

	if (!f || fscanf(f, "%u", &type) != 1) {
		fprintf(stderr, "this kernel has no uprobe events\n");
		exit(77);
	}
	fclose(f);
	attr.type = type;
	fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "no probe on %s+0x%lx: %s\n", path, offset, strerror(errno));
		exit(2);
	}
	return fd;
}

/* Reads and closes it. */
static inline uint64_t uprobe_event_hits(int fd)
{
	uint64_t count = 0;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		exit(2);
	close(fd);
	return count;
}

#endif
