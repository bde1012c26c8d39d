/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where runtimes write names of generated code, and whether these are theirs. */
#include "proc/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proc/maps.h"

#define START_FIELD   22 /* of /proc/PID/stat: ticks since boot */
#define FIRST_WAIT_NS 1000000000ull
#define MAX_WAIT_NS   8000000000ull
#define SLACK_NS      2000000000ull /* ticks are rounded, and clocks were read in turns */

/* The last number of a line of /proc/PID/status is what the innermost PID namespace says. */
static uint32_t last_number(const char *line)
{
	const char *last = line;

	for (const char *p = line; *p && *p != '\n'; p++)
		if ((*p == '\t' || *p == ' ') && p[1] >= '0' && p[1] <= '9')
			last = p + 1;
	return strtoul(last, NULL, 10);
}

static bool read_status(struct jit_place *j)
{
	unsigned int real, effective;
	char path[64], line[512];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", j->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Uid: %u %u", &real, &effective) == 2) {
			j->owners[0] = real;
			j->owners[1] = effective;
			found |= 1;
		} else if (!strncmp(line, "NStgid:", 7)) {
			j->own_pid = last_number(line + 7);
			found |= 2;
		}
	}
	if (f)
		fclose(f);
	return found == 3;
}

static uint64_t started_ns(uint32_t pid)
{
	unsigned long long ticks = 0;
	char path[64], text[1024];
	const char *p;
	size_t nr;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	nr = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[nr] = '\0';
	p = strrchr(text, ')'); /* ends field 2, which may hold anything */
	for (int field = 2; p && field < START_FIELD; field++)
		p = strchr(p + 1, ' ');
	if (p)
		ticks = strtoull(p, NULL, 10);
	return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME) +
	       ticks * (1000000000ull / sysconf(_SC_CLK_TCK));
}

static enum jit_rule rule_of(const struct jit_place *place, const struct stat *st)
{
	uint64_t written_ns = st->st_mtim.tv_sec * 1000000000ull + st->st_mtim.tv_nsec;

	if (!S_ISREG(st->st_mode))
		return JIT_TYPE;
	if (st->st_uid && st->st_uid != place->owners[0] && st->st_uid != place->owners[1])
		return JIT_OWNER;
	return written_ns + SLACK_NS < place->started_ns ? JIT_AGE : JIT_COUNTS;
}

/* Of one that was not opened. */
static enum jit_rule rule_of_error(void)
{
	switch (errno) {
	case ELOOP:
		return JIT_LINK;
	case EACCES:
	case EPERM:
		return JIT_RIGHTS;
	case ENXIO: /* a socket */
		return JIT_TYPE;
	default:
		return JIT_COUNTS;
	}
}

int jit_place_open(const struct jit_place *place, int tmp, struct jit_refusal *why)
{
	char path[64];
	struct stat st = {};
	int fd;

	*why = (struct jit_refusal){};
	if (tmp < 0) {
		snprintf(path, sizeof(path), "/proc/%u/root/tmp", maps_living_thread(place->pid));
		return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	snprintf(path, sizeof(path), "perf-%u.map", place->own_pid);
	fd = openat(tmp, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0) {
		why->rule = rule_of_error();
		return -1;
	}
	if (!fstat(fd, &st))
		*why = (struct jit_refusal){ rule_of(place, &st), st.st_uid };
	if (why->rule == JIT_COUNTS)
		return fd;
	close(fd);
	return -1;
}

static int ask(struct jit_files *j)
{
	int fd = j->opener.open ? j->opener.open(j->opener.arg, &j->place, j->tmp, &j->refused)
				: jit_place_open(&j->place, j->tmp, &j->refused);

	return fd < 0 ? -1 : fd;
}

struct jit_files *jit_files_new(uint32_t pid, const struct jit_opener *opener)
{
	struct jit_files *j = xcalloc(1, sizeof(*j));

	*j = (struct jit_files){ .place.pid = pid, .map = -1, .dump = -1, .tmp = -1 };
	if (opener)
		j->opener = *opener;
	j->place.started_ns = started_ns(pid);
	if (j->place.started_ns && read_status(&j->place))
		j->tmp = ask(j);
	if (j->tmp >= 0)
		return j;
	free(j);
	return NULL;
}

void jit_files_free(struct jit_files *j)
{
	if (!j)
		return;
	if (j->map >= 0)
		close(j->map);
	close(j->tmp);
	free(j);
}

static bool is_dump(const struct jit_files *j, const struct proc_mapping *m)
{
	char name[32];
	size_t len, path;

	if (!m->file)
		return false;
	len = snprintf(name, sizeof(name), "/jit-%u.dump", j->place.own_pid);
	path = strlen(m->file->path);
	return path >= len && !strcmp(m->file->path + path - len, name);
}

void jit_files_find_dump(struct jit_files *j, const struct proc_image *image)
{
	for (size_t i = 0; i < image->nr_maps && j->dump < 0; i++) {
		if (!is_dump(j, &image->maps[i]))
			continue;
		proc_file_open(image->maps[i].file, j->place.pid, &image->maps[i]);
		j->dump = image->maps[i].file->fd;
		image->maps[i].file->users++;
	}
}

void jit_files_open_map(struct jit_files *j)
{
	if (j->map < 0)
		j->map = ask(j);
}

static bool is_due(struct jit_files *j, bool is_gone)
{
	uint64_t now = now_ns();

	if (is_gone ? j->tried_last : now < j->next_ns)
		return false;
	j->tried_last = is_gone;
	j->next_ns = now + j->wait_ns;
	j->wait_ns = j->wait_ns ? 2 * j->wait_ns : FIRST_WAIT_NS;
	if (j->wait_ns > MAX_WAIT_NS)
		j->wait_ns = MAX_WAIT_NS;
	return true;
}

void jit_files_try_map(struct jit_files *j, bool is_gone)
{
	if (j->map < 0 && is_due(j, is_gone))
		jit_files_open_map(j);
}
