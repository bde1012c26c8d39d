/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "who/look.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "who/under.h"

#define MAX_GROUP  (64u << 10) /* paths can be long, and there may be many */
#define KTHREAD	   0x00200000u /* the kernel's PF_KTHREAD */
#define FLAGS_AT   9
#define START_AT   22
#define CODE_AT	   26
#define STACK_AT   28
#define NAME_FIELD 2

static const char *field_at(const char *behind_name, int field)
{
	const char *s = behind_name;

	for (int i = NAME_FIELD; s && i < field; i++)
		s = strchr(s + 1, ' ');
	return s;
}

/* The kernel puts code and stack somewhere else for each program that a process becomes. */
static uint64_t program_of(const char *behind_name)
{
	const char *code = field_at(behind_name, CODE_AT);
	const char *stack = field_at(behind_name, STACK_AT);

	return stack ? strtoull(code, NULL, 10) ^ strtoull(stack, NULL, 10) : 0;
}

bool look_parse_stat(const char *text, struct look *l)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	const char *flags, *start;
	unsigned int f;

	if (!open || !close || close < open)
		return false;
	flags = field_at(close, FLAGS_AT);
	start = field_at(close, START_AT);
	if (!start || sscanf(flags, " %u", &f) != 1 || sscanf(start, " %" SCNu64, &l->start) != 1)
		return false;
	snprintf(l->comm, sizeof(l->comm), "%.*s", (int)(close - open - 1), open + 1);
	l->is_kernel = f & KTHREAD;
	l->program = program_of(close);
	return true;
}

/* Bytes, 0 = it is gone. */
static size_t read_proc(int root, uint32_t pid, const char *name, char *to, size_t sz)
{
	char path[64];
	long len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = under_open(root, path, O_RDONLY | O_NONBLOCK);
	len = fd < 0 ? 0 : under_read(fd, to, sz - 1);
	if (fd >= 0)
		close(fd);
	to[len < 0 ? 0 : len] = '\0';
	return len < 0 ? 0 : len;
}

bool look_stat(int root, uint32_t pid, struct look *l)
{
	char text[1024];

	return read_proc(root, pid, "stat", text, sizeof(text)) && look_parse_stat(text, l);
}

/* The name alone; of a program that was replaced since then, without " (deleted)". */
static char *read_exe(int root, uint32_t pid)
{
	char path[64], target[4096], *deleted;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	fd = under_open(root, path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return NULL;
	len = readlinkat(fd, "", target, sizeof(target) - 1);
	close(fd);
	if (len <= 0)
		return NULL;
	target[len] = '\0';
	deleted = strstr(target, " (deleted)");
	if (deleted && !deleted[strlen(" (deleted)")])
		*deleted = '\0';
	return xstrdup(text_base_name(target));
}

void look_begin(struct look *l, int root, uint32_t pid)
{
	char *groups = xmalloc(MAX_GROUP);
	size_t len;

	*l = (struct look){ .pid = pid };
	if (look_stat(root, pid, l)) {
		len = read_proc(root, pid, "cgroup", groups, MAX_GROUP);
		container_parse(groups, len, &l->place);
		l->exe = read_exe(root, pid);
	}
	free(groups);
}

void look_release(struct look *l)
{
	for (size_t i = 0; i < FACT_NR; i++)
		free(l->facts[i]);
	free(l->exe);
}
