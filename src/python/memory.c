/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "python/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool memory_read(const struct memory *m, uint64_t at, void *to, size_t sz)
{
	return at <= INT64_MAX - sz && pread(m->fd, to, sz, at) == (ssize_t)sz;
}

bool memory_word(const struct memory *m, uint64_t at, uint64_t *word)
{
	return memory_read(m, at, word, sizeof(*word));
}

bool memory_u32(const struct memory *m, uint64_t at, uint32_t *number)
{
	return memory_read(m, at, number, sizeof(*number));
}

int memory_open(uint32_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
