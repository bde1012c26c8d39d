/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One pass over /proc. */
#include "proc/running.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define KTHREADD 2

static size_t read_start(const char *path, char *text, size_t sz)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sz - 1);

	if (fd >= 0)
		close(fd);
	text[len < 0 ? 0 : len] = '\0';
	return len < 0 ? 0 : len;
}

/* "123 (a name) S 1 …"; the name may hold anything, so it ends at the last ')'. */
static bool parse_stat(const char *text, struct running_process *p)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');

	if (!open || !close || close < open)
		return false;
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(close - open - 1), open + 1);
	return sscanf(close + 1, " %*c %u", &p->parent) == 1;
}

/*
 * By the link to its file. The command line says more, but it is memory of the process: to read it
 * may take as long as the file system that is mapped there likes.
 */
static char *program_of(const char *root, uint32_t pid)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;
	char path[512], link[PATH_MAX];
	const char *slash;
	ssize_t len;

	snprintf(path, sizeof(path), "%s/proc/%u/exe", root, pid);
	len = readlink(path, link, sizeof(link) - 1);
	if (len < 0)
		return xstrdup("");
	link[len] = '\0';
	if ((size_t)len > tail && !strcmp(link + len - tail, deleted))
		link[len - tail] = '\0';
	slash = strrchr(link, '/');
	return xstrdup(slash ? slash + 1 : link);
}

static void add(struct running *r, const char *root, uint32_t pid)
{
	struct running_process p = { .pid = pid };
	char path[512], text[1024];

	snprintf(path, sizeof(path), "%s/proc/%u/stat", root, pid);
	if (!read_start(path, text, sizeof(text)) || !parse_stat(text, &p))
		return;
	p.is_kernel = pid == KTHREADD || p.parent == KTHREADD;
	p.program = program_of(root, pid);
	r->v = xgrow(r->v, r->nr, &r->cap, sizeof(*r->v));
	r->v[r->nr++] = p;
}

static int compare(const void *a, const void *b)
{
	uint32_t x = ((const struct running_process *)a)->pid;
	uint32_t y = ((const struct running_process *)b)->pid;

	return (x > y) - (x < y);
}

void running_read(struct running *r, const char *root)
{
	char path[512];
	struct dirent *e;
	DIR *d;

	*r = (struct running){};
	snprintf(path, sizeof(path), "%s/proc", root);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    strtoul(e->d_name, NULL, 10) != (unsigned long)getpid())
			add(r, root, strtoul(e->d_name, NULL, 10));
	if (d)
		closedir(d);
	if (r->nr)
		qsort(r->v, r->nr, sizeof(*r->v), compare);
}

void running_release(struct running *r)
{
	for (size_t i = 0; i < r->nr; i++)
		free(r->v[i].program);
	free(r->v);
	*r = (struct running){};
}

const struct running_process *running_find(const struct running *r, uint32_t pid)
{
	struct running_process key = { .pid = pid };

	return r->nr ? bsearch(&key, r->v, r->nr, sizeof(*r->v), compare) : NULL;
}

/* "python3.11" is python3, and python, too. */
static bool is_version_of(const char *program, const char *name)
{
	size_t len = strlen(name);

	return len && !strncmp(program, name, len) &&
	       !program[len + strspn(program + len, "0123456789.-")];
}

bool running_is_named(const struct running_process *p, const char *name)
{
	return !strcmp(p->name, name) || (*p->program && is_version_of(p->program, name));
}

/*
 * Turn by turn, until there is nobody new: numbers start again from the lowest, so a child may come
 * before its parent. O(processes × generations), some hundred times some.
 */
size_t running_add_descendants(const struct running *r, struct opt_ids *pids)
{
	size_t first = pids->nr, before;

	do {
		before = pids->nr;
		for (size_t i = 0; i < r->nr; i++)
			if (opt_ids_has(pids, r->v[i].parent))
				opt_ids_add(pids, r->v[i].pid);
	} while (pids->nr != before);
	return pids->nr - first;
}
