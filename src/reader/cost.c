/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From wait4(). A child begins with pages that it shares with its parent, which nobody pays twice.
 * Those that it writes to become its own, and are left out as well: bytes are too few by these.
 */
#include "reader/cost.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t time_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ull + t->tv_usec * 1000ull;
}

void reader_cost_add(struct reader_cost *sum, const struct reader_cost *more)
{
	sum->cpu_ns += more->cpu_ns;
	if (sum->bytes < more->bytes)
		sum->bytes = more->bytes;
}

uint64_t cost_memory(void)
{
	unsigned long long size, pages;
	FILE *f = fopen("/proc/self/statm", "re");
	int nr = f ? fscanf(f, "%llu %llu", &size, &pages) : 0;

	if (f)
		fclose(f);
	return nr == 2 ? pages * sysconf(_SC_PAGESIZE) : 0;
}

static void add_usage(const struct rusage *usage, uint64_t first_bytes, struct reader_cost *c)
{
	struct reader_cost one = { .cpu_ns = time_ns(&usage->ru_utime) + time_ns(&usage->ru_stime),
				   .bytes = usage->ru_maxrss * 1024ull };

	one.bytes -= one.bytes < first_bytes ? one.bytes : first_bytes;
	reader_cost_add(c, &one);
}

void cost_self(uint64_t first_bytes, struct reader_cost *c)
{
	struct rusage usage;

	if (!getrusage(RUSAGE_SELF, &usage))
		add_usage(&usage, first_bytes, c);
}

pid_t cost_wait(pid_t pid, int flags, uint64_t first_bytes, struct reader_cost *c)
{
	struct rusage usage;
	pid_t ended = wait4(pid, NULL, flags, &usage);

	if (ended == pid)
		add_usage(&usage, first_bytes, c);
	return ended;
}

/* As ps has it; 0 = it is gone. */
static char state_of(pid_t pid)
{
	char path[32], text[256];
	const char *end;
	ssize_t nr;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	nr = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[nr > 0 ? nr : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

bool cost_is_runnable(pid_t pid)
{
	return state_of(pid) == 'R';
}

bool cost_is_stopped(pid_t pid)
{
	return state_of(pid) == 'T';
}

bool cost_has_ended(pid_t pid)
{
	char state = state_of(pid);

	return !state || state == 'Z' || state == 'X';
}
