/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Settings of the host, and processes that there are. */
#include "event/host.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "event/cpus.h"

/* In one piece: stdio without memory for a buffer reads a byte, and then there are no more. */
long host_sysctl(const char *name, long fallback)
{
	char path[128], text[32], *end;
	ssize_t got;
	long value;
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fallback;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	value = strtol(text, &end, 10);
	return end == text ? fallback : value;
}

uint32_t host_max_rate(void)
{
	return host_sysctl("kernel/perf_event_max_sample_rate", 100000);
}

/* Does the process that we see as pid call itself inner in its own, inner PID namespace? */
static bool is_called(const char *pid, uint32_t inner)
{
	char path[300], line[256];
	bool called = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *last;

		if (strncmp(line, "NSpid:", 6))
			continue;
		last = strrchr(line, '\t');
		called = last > line + 6 && strtoul(last, NULL, 10) == inner;
		break;
	}
	if (f)
		fclose(f);
	return called;
}

static uint32_t find_inner_pid(uint32_t inner)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	uint32_t found = 0;

	while (dir && !found && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && is_called(e->d_name, inner))
			found = strtoul(e->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return found;
}

int host_check_pid(uint32_t pid, bool thread)
{
	const char *what = thread ? "thread" : "process";
	char path[64];
	uint32_t outer;

	/*
	 * /proc/TID exists for threads too, but only a process is its own group leader's entry in
	 * /proc/PID/task.
	 */
	snprintf(path, sizeof(path), "/proc/%u/task/%u", pid, pid);
	if (!access(path, F_OK))
		return 0;
	outer = thread ? 0 : find_inner_pid(pid);
	if (outer)
		log_err(0,
			"no process %u here; process %u calls itself %u "
			"inside its PID namespace: use -p %u",
			pid, outer, pid, outer);
	else
		log_err(0, "no %s %u", what, pid);
	return -ESRCH;
}

static bool any_online(const struct opt_ids *cpus, const struct cpus *online)
{
	for (size_t i = 0; i < cpus->nr; i++)
		if (cpus_has(online, cpus->v[i]))
			return true;
	return false;
}

static int no_such_cpu(const struct cpus *wanted, const struct cpus *online, int err)
{
	char *w = cpus_text(wanted), *o = cpus_text(online);

	log_err(0, "-C %s: no such CPU is online; those online are %s", w, o);
	free(w);
	free(o);
	return err;
}

int host_check_cpus(const struct opt_ids *cpus)
{
	struct cpus wanted = { .v = cpus->v, .nr = cpus->nr }, online = {};
	struct cpus highest = { .nr = 1 };
	int err = 0;

	if (!cpus->nr || cpus_online(&online))
		return 0;
	highest.v = &cpus->v[cpus->nr - 1];
	if (*highest.v >= cpus_possible())
		err = no_such_cpu(&highest, &online, -EINVAL);
	else if (!any_online(cpus, &online))
		err = no_such_cpu(&wanted, &online, -ENODEV);
	cpus_release(&online);
	return err;
}
