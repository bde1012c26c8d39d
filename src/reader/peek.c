/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * By /proc/PID/mem, where the kernel waits for the lock of a process's mappings in a way that
 * SIGKILL ends (5.3); in process_vm_readv() it does not.
 */
#include "reader/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_BYTES 4096u
#define MOST_PARTS 257

/* What lets us trace others may not let us open their files. Up to where memory ends. */
static ssize_t read_by_pid(uint32_t pid, uint64_t at, void *to, size_t sz)
{
	struct iovec local = { to, sz }, parts[MOST_PARTS];
	size_t nr = 0, part;
	ssize_t got;

	for (size_t left = sz; left && nr < MOST_PARTS; left -= part) {
		part = PAGE_BYTES - (at & (PAGE_BYTES - 1));
		if (part > left)
			part = left;
		parts[nr++] = (struct iovec){ (void *)at, part };
		at += part;
	}
	got = process_vm_readv(pid, &local, 1, parts, nr, 0);
	return got < 0 ? -errno : got;
}

/* The memory of the last process: rows of its threads come one after the other. */
static uint32_t open_pid;
static int open_fd = -1;

void peek_end(void)
{
	if (open_fd >= 0)
		close(open_fd);
	open_fd = -1;
}

static int open_memory(uint32_t pid)
{
	char path[32];

	if (open_fd >= 0 && open_pid == pid)
		return open_fd;
	peek_end();
	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	open_fd = open(path, O_RDONLY | O_CLOEXEC);
	open_pid = pid;
	return open_fd < 0 ? -errno : open_fd;
}

ssize_t peek_memory(uint32_t pid, uint64_t at, void *to, size_t sz)
{
	ssize_t got;
	int fd;

	if (at > INT64_MAX - sz)
		return -EFAULT;
	fd = open_memory(pid);
	if (fd < 0)
		return fd == -EACCES ? read_by_pid(pid, at, to, sz) : fd;
	got = pread(fd, to, sz, at);
	return got < 0 ? -errno : got;
}

ssize_t peek_each(const void *row, void *answer, size_t max)
{
	const struct peek *p = row;

	return p->sz > max ? -EMSGSIZE : peek_memory(p->pid, p->at, answer, p->sz);
}

struct copy {
	void *to;
	size_t room;
	ssize_t sz;
};

static void take(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	struct copy *c = arg;

	c->sz = sz > (ssize_t)c->room ? -EMSGSIZE : sz;
	if (c->sz > 0)
		memcpy(c->to, bytes, c->sz);
}

ssize_t peek_read(struct reader *r, const struct peek *p, void *to)
{
	struct copy c = { to, p->sz, -EPIPE };

	reader_ask_each(r, READER_MEMORY, p, 1, take, &c);
	return c.sz;
}

bool peek_answers(struct reader *r, uint32_t pid)
{
	const struct peek nothing = { pid, 1, 0 };
	char byte;

	return peek_read(r, &nothing, &byte) != -ETIMEDOUT;
}
