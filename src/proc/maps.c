/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading /proc/PID/maps and /proc/PID/comm. */
#include "proc/maps.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_STACK_FIELD 28 /* of /proc/PID/stat, counted from 1 */

/* The kernel writes the line feeds of a path so, and nothing else, not even a backslash. */
static void unescape(char *path)
{
	static const char escaped[] = "\\012";
	const size_t len = sizeof(escaped) - 1;
	char *to = path;

	for (; *path; to++) {
		bool is_feed = !strncmp(path, escaped, len);

		*to = is_feed ? '\n' : *path;
		path += is_feed ? len : 1;
	}
	*to = '\0';
}

bool maps_parse(char *text, struct maps_line *line)
{
	char perms[5] = "";
	int path = -1;

	text[strcspn(text, "\n")] = '\0';
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &line->start, &line->end, perms, &line->file_offset, &line->dev_major,
		   &line->dev_minor, &line->ino, &path) != 7 ||
	    path < 0 || perms[2] != 'x')
		return 0;
	unescape(text + path);
	line->path = text + path;
	return line->start < line->end;
}

void maps_take(char *text, size_t len, void (*fn)(void *arg, const struct maps_line *line),
	       void *arg)
{
	char *end = text + len, *next;
	struct maps_line line;

	for (; text < end; text = next) {
		next = memchr(text, '\n', end - text);
		if (!next)
			break; /* cut */
		*next++ = '\0';
		if (maps_parse(text, &line))
			fn(arg, &line);
	}
}

/* "start-end r-xp ...": the others are left out, in place. */
static size_t keep_executable(char *text, size_t len)
{
	char *at = text, *to = text, *end = text + len, *next, *blank;

	for (; at < end; at = next) {
		next = memchr(at, '\n', end - at);
		if (!next)
			break; /* cut */
		next++;
		blank = memchr(at, ' ', next - at);
		if (!blank || next - blank < 5 || blank[3] != 'x')
			continue;
		memmove(to, at, next - at);
		to += next - at;
	}
	return to - text;
}

/* All lines: how many bytes, or negative errno. */
static ssize_t copy(uint32_t pid, char *to, size_t max)
{
	char path[32];
	size_t len = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < max && (got = read(fd, to + len, max - len)) > 0)
		len += got;
	close(fd);
	return len;
}

ssize_t maps_copy(uint32_t pid, char *to, size_t max)
{
	ssize_t len = copy(pid, to, max);

	if (!len)
		len = copy(maps_living_thread(pid), to, max);
	return len > 0 ? (ssize_t)keep_executable(to, len) : len;
}

/* Returns how many lines there were, executable or not; or negative errno. */
static int read_lines(uint32_t pid, void (*fn)(void *arg, const struct maps_line *line), void *arg)
{
	struct maps_line line;
	char path[32], *text = NULL;
	size_t cap = 0;
	int nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	for (; getline(&text, &cap, f) > 0; nr++)
		if (maps_parse(text, &line))
			fn(arg, &line);
	free(text);
	fclose(f);
	return nr;
}

int maps_read(uint32_t pid, void (*fn)(void *arg, const struct maps_line *line), void *arg)
{
	int nr = read_lines(pid, fn, arg);

	if (!nr)
		nr = read_lines(maps_living_thread(pid), fn, arg);
	return nr < 0 ? nr : 0;
}

int maps_read_name(uint32_t pid, char *name, size_t sz)
{
	char path[32];
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	len = fread(name, 1, sz - 1, f);
	fclose(f);
	name[len] = '\0';
	if (len && name[len - 1] == '\n')
		name[len - 1] = '\0';
	return len ? 0 : -ESRCH;
}

int maps_read_owner(uint32_t pid, uint32_t *uid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &st))
		return -errno;
	*uid = st.st_uid;
	return 0;
}

static int read_start_stack(uint32_t pid, uint64_t *start_stack)
{
	char path[32], stat[1024];
	const char *at;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	len = fread(stat, 1, sizeof(stat) - 1, f);
	fclose(f);
	stat[len] = '\0';
	at = strrchr(stat, ')'); /* then a blank and field 3 */
	for (int field = 2; at && field < START_STACK_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%" SCNu64, start_stack) == 1 ? 0 : -ESRCH;
}

int maps_read_start_stack(uint32_t pid, uint64_t *start_stack)
{
	int err = read_start_stack(pid, start_stack);

	return err || *start_stack ? err : read_start_stack(maps_living_thread(pid), start_stack);
}

/*
 * "PID (name) STATE …"; the name may hold anything, so the state is looked for behind the last ')'.
 */
static bool thread_runs(uint32_t pid, const char *tid)
{
	char path[300], stat[256];
	const char *end;
	size_t len;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%s/stat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	len = fread(stat, 1, sizeof(stat) - 1, f);
	fclose(f);
	stat[len] = '\0';
	end = strrchr(stat, ')');
	return end && end[1] == ' ' && !strchr("ZXx", end[2]);
}

bool maps_is_alive(uint32_t pid)
{
	char path[32];
	struct dirent *e;
	bool alive = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && !alive && (e = readdir(dir)))
		alive = isdigit((unsigned char)e->d_name[0]) && thread_runs(pid, e->d_name);
	if (dir)
		closedir(dir);
	return alive;
}

uint32_t maps_living_thread(uint32_t pid)
{
	uint32_t tid = pid;
	struct dirent *e;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "%u", pid);
	if (thread_runs(pid, path))
		return pid;
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && tid == pid && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && thread_runs(pid, e->d_name))
			tid = strtoul(e->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return tid;
}
