/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading the directories of tracefs. */
#include "event/tracepoints.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "event/tracefs.h"

/* The next directory in a directory, NULL behind the last. */
static const char *next_folder(DIR *dir)
{
	struct dirent *entry;

	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			return entry->d_name;
	return NULL;
}

static DIR *open_folder(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static void read_category(struct tracepoints *t, const char *category)
{
	char *path = xasprintf("events/%s", category);
	DIR *dir = open_folder(t->root, path);
	const char *name;

	free(path);
	while (dir && (name = next_folder(dir))) {
		t->names = xgrow(t->names, t->nr, &t->cap, sizeof(*t->names));
		t->names[t->nr++] = xasprintf("%s:%s", category, name);
	}
	if (dir)
		closedir(dir);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int tracepoints_open(struct tracepoints *t, const char *tracefs)
{
	const char *category;
	DIR *dir;

	*t = (struct tracepoints){};
	t->root = tracefs ? open(tracefs, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : tracefs_open();
	if (t->root < 0)
		return tracefs ? -errno : t->root;
	dir = open_folder(t->root, "events");
	if (!dir)
		return -errno;
	while ((category = next_folder(dir)))
		read_category(t, category);
	closedir(dir);
	if (t->nr)
		qsort(t->names, t->nr, sizeof(*t->names), by_name);
	return 0;
}

void tracepoints_close(struct tracepoints *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->names[i]);
	free(t->names);
	if (t->root >= 0)
		close(t->root);
	*t = (struct tracepoints){ .root = -1 };
}

char *tracepoints_why(int err)
{
	if (err == -EACCES || err == -EPERM)
		return xasprintf("the kernel lists its tracepoints in tracefs, which only root may "
				 "read");
	if (err == -ENOENT || err == -ENODEV)
		return xasprintf("this kernel has no tracepoints (CONFIG_FTRACE), or its tracefs "
				 "cannot be seen from here");
	return xasprintf("cannot open the kernel's tracefs: %s", strerror(-err));
}

bool tracepoints_is_glob(const char *word)
{
	return strpbrk(word, "*?[") != NULL;
}

bool tracepoints_is_meant(const char *name, const char *word)
{
	return tracepoints_is_glob(word) ? !fnmatch(word, name, 0) : !strcmp(name, word);
}

size_t tracepoints_count(const struct tracepoints *t, const char *word)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		nr += tracepoints_is_meant(t->names[i], word);
	return nr;
}

char *tracepoints_read(const struct tracepoints *t, const char *name, const char *file)
{
	int category = strcspn(name, ":");
	char *path = xasprintf("events/%.*s/%s/%s", category, name, name + category + 1, file);
	char *text = tracefs_read(t->root, path);

	free(path);
	return text;
}

uint64_t tracepoints_id(const struct tracepoints *t, const char *name)
{
	char *text = tracepoints_read(t, name, "id");
	uint64_t id = text ? strtoull(text, NULL, 10) : 0;

	free(text);
	return id;
}
