/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Points of the kernel: its functions and its tracepoints. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/call_args.h"
#include "collect/points_parts.h"
#include "event/tracefs.h"

#define KPROBE_TYPE "/sys/bus/event_source/devices/kprobe/type"

/* Names that a word is compared with. */
struct names {
	char **v;
	size_t nr, cap;
};

static void names_add(struct names *n, const char *name)
{
	n->v = xgrow(n->v, n->nr, &n->cap, sizeof(*n->v));
	n->v[n->nr++] = xstrdup(name);
}

static void names_release(struct names *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->v[i]);
	free(n->v);
}

static bool is_glob(const char *word)
{
	return strpbrk(word, "*?[") != NULL;
}

static bool is_meant(const char *name, const char *word)
{
	return is_glob(word) ? !fnmatch(word, name, 0) : !strcmp(name, word);
}

static int not_found(const struct names *n, const char *what, const char *word)
{
	const char *near = text_nearest(word, (const char *const *)n->v, n->nr);
	char *hint = text_meant("", near);

	log_err(0, "the kernel has no %s '%s'%s", what, word, hint);
	free(hint);
	return -ENOENT;
}

static int too_many(struct points *p, size_t nr, const char *word)
{
	if (nr <= POINTS_WITHOUT_ALL || p->opts->all)
		return 0;
	return log_as(-EINVAL,
		      "'%s' means %zu places, and each hit of them costs: narrow it down, or "
		      "give --all",
		      word, nr);
}

/* Functions by the kernel's own list; compilers append suffixes to those that they split. */
static int read_functions(struct names *n)
{
	char line[512], type, name[256];
	FILE *f = fopen("/proc/kallsyms", "re");

	if (!f)
		return log_err(-errno, "cannot read /proc/kallsyms");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %c %255s", &type, name) == 2 && (type == 't' || type == 'T'))
			names_add(n, name);
	fclose(f);
	return 0;
}

static int add_function(struct points *p, const char *name)
{
	struct call_event e = { .where = "[kernel]" };
	struct point point = { .kind = POINT_KPROBE, .by_probe = p->opts->timed };
	struct call_args args;
	int err = call_args_of_function(&args, p->opts->args);

	if (err)
		return err;
	e.name = point.where = points_string(p, xstrdup(name));
	point.event = points_add_event(p, &e);
	point.args = points_add_args(p, &args);
	points_add(p, &point);
	return 0;
}

int points_add_kprobe(struct points *p, const char *word)
{
	struct names functions = {};
	size_t nr = 0;
	int err;

	if (access(KPROBE_TYPE, R_OK))
		return log_as(-EOPNOTSUPP,
			      "this kernel has no kprobes (CONFIG_KPROBE_EVENTS): its functions "
			      "cannot be probed; its tracepoints can (bpfprof tracepoint)");
	err = read_functions(&functions);
	for (size_t i = 0; i < functions.nr; i++)
		nr += is_meant(functions.v[i], word);
	if (!err && !nr)
		err = not_found(&functions, "function", word);
	if (!err)
		err = too_many(p, nr, word);
	for (size_t i = 0; i < functions.nr && !err; i++) {
		if (!is_meant(functions.v[i], word))
			continue;
		err = add_function(p, functions.v[i]);
		if (!is_glob(word)) /* of several of one name the kernel takes one */
			break;
	}
	names_release(&functions);
	return err;
}

/* The directories in a directory of tracefs. */
static void read_folders(int root, const char *path, struct names *n)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			names_add(n, entry->d_name);
	if (dir)
		closedir(dir);
}

/* All tracepoints as "category:name". */
static void read_tracepoints(int root, struct names *all)
{
	struct names categories = {}, names;
	char path[300];

	read_folders(root, "events", &categories);
	for (size_t i = 0; i < categories.nr; i++) {
		names = (struct names){};
		snprintf(path, sizeof(path), "events/%s", categories.v[i]);
		read_folders(root, path, &names);
		for (size_t k = 0; k < names.nr; k++) {
			char *name = xasprintf("%s:%s", categories.v[i], names.v[k]);

			names_add(all, name);
			free(name);
		}
		names_release(&names);
	}
	names_release(&categories);
}

static char *read_of(int root, const char *tracepoint, const char *file)
{
	int category = strcspn(tracepoint, ":");
	char *path = xasprintf("events/%.*s/%s/%s", category, tracepoint, tracepoint + category + 1,
			       file);
	char *text = tracefs_read(root, path);

	free(path);
	return text;
}

/* What ends calls is no event of its own, but ends those of all. */
static int add_tracepoint(struct points *p, int root, const char *name, bool is_until)
{
	struct call_event e = { .where = "[kernel]" };
	struct point point = { .kind = POINT_TRACEPOINT, .is_return = is_until };
	char *id = read_of(root, name, "id"), *format = read_of(root, name, "format");
	struct call_args args = {};
	int err = 0;

	if (!id || !format)
		err = log_err(-errno, "cannot read the tracepoint %s", name);
	else if (!is_until)
		err = call_args_of_tracepoint(&args, p->opts->args, format);
	if (!err) {
		e.name = point.where = points_string(p, xstrdup(name));
		point.id = strtoull(id, NULL, 10);
		point.event = is_until ? 0 : points_add_event(p, &e);
		point.args = points_add_args(p, &args);
		points_add(p, &point);
	}
	free(id);
	free(format);
	return err;
}

/* As those of the tracer itself, which cannot be attached to. */
static bool is_without_id(int root, const char *name)
{
	char *id = read_of(root, name, "id");

	free(id);
	return !id;
}

int points_add_tracepoint(struct points *p, const char *word, bool is_until)
{
	int root = tracefs_open(), err = 0;
	struct names all = {};
	size_t nr = 0;

	if (root < 0)
		return log_err(root, "cannot open the kernel's tracefs");
	read_tracepoints(root, &all);
	for (size_t i = 0; i < all.nr; i++)
		nr += is_meant(all.v[i], word);
	err = nr ? too_many(p, nr, word) : not_found(&all, "tracepoint", word);
	for (size_t i = 0; i < all.nr && !err; i++)
		if (is_meant(all.v[i], word) && !(is_glob(word) && is_without_id(root, all.v[i])))
			err = add_tracepoint(p, root, all.v[i], is_until);
	names_release(&all);
	close(root);
	return err;
}
