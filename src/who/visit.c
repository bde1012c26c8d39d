/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening, then the jail, then reading. A file system that does not answer holds up the opening or
 * the reading: the child has a deadline. Links of a container are followed within it only.
 */
#include "who/visit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "reader/jail.h"
#include "who/environment.h"
#include "who/look.h"
#include "who/process_context.h"
#include "who/runtime_files.h"
#include "who/under.h"

#define MAX_ENVIRONMENT (1u << 20)
#define MAX_MAPS	(8u << 20)
#define MAX_SMALL	256
#define MAX_RUNTIME	8
#define JAIL_NS		2000000000ull

/* Of its files in the container. */
enum { SMALL_NAMESPACE, SMALL_HOSTNAME, NR_SMALL };
static const struct {
	const char *path;
	enum fact fact;
} small[NR_SMALL] = {
	{ "/var/run/secrets/kubernetes.io/serviceaccount/namespace", FACT_NAMESPACE_ACCOUNT },
	{ "/etc/hostname", FACT_HOSTNAME },
};

/* What was opened for one process; -1 = not there. */
struct opened {
	int environment, maps, memory, small[NR_SMALL], runtime[MAX_RUNTIME];
};

struct visit {
	const struct visit_question *q;
	struct opened opened[VISIT_MAX];
	int root;
	bool is_ours; /* the root is this machine's */
	struct reader_work *w;
	uint32_t process; /* that facts are of */
	bool has_service; /* its environment says what it is called */
};

struct row {
	uint32_t process, fact, len;
};

static void put(void *arg, enum fact fact, const char *value, size_t len)
{
	struct visit *v = arg;
	struct row row = { v->process, fact, (uint32_t)len };
	char *to = (char *)v->w->answer + v->w->sz;

	v->has_service |= fact == FACT_SERVICE_VARIABLE || fact == FACT_SERVICE_ATTRIBUTE;
	if (v->w->max_sz - v->w->sz < sizeof(row) + len)
		return;
	memcpy(to, &row, sizeof(row));
	memcpy(to + sizeof(row), value, len);
	v->w->sz += sizeof(row) + len;
}

bool visit_each(const void *answer, size_t sz, uint32_t nr_processes,
		void (*fn)(void *arg, uint32_t process, enum fact fact, const char *value,
			   size_t len),
		void *arg)
{
	const char *p = answer;
	struct row row;

	while (sz) {
		if (sz < sizeof(row))
			return false;
		memcpy(&row, p, sizeof(row));
		sz -= sizeof(row);
		p += sizeof(row);
		if (row.process >= nr_processes || row.fact >= FACT_NR || row.len > sz ||
		    row.len > FACT_MAX_LEN)
			return false;
		fn(arg, row.process, row.fact, p, row.len);
		p += row.len;
		sz -= row.len;
	}
	return true;
}

/* /proc/PID is a folder of that process as long as it is open, whoever gets its number later. */
static bool is_it(int folder, uint64_t start)
{
	char text[1024];
	int fd = under_open(folder, "stat", O_RDONLY | O_NONBLOCK);
	long len = fd < 0 ? 0 : under_read(fd, text, sizeof(text) - 1);
	struct look l = {};

	if (fd >= 0)
		close(fd);
	text[len < 0 ? 0 : len] = '\0';
	return look_parse_stat(text, &l) && l.start == start;
}

/* Its root is a link that only the kernel can follow; one that is made up is a folder. */
static int open_its_root(const struct visit *v, int folder, uint32_t pid)
{
	char path[64];

	if (v->is_ours)
		return openat(folder, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%u/root", pid);
	return under_open(v->root, path, O_PATH | O_DIRECTORY);
}

/* Names of a pod are asked for only where there is one. */
static void open_small(const struct visit *v, int folder, const struct visit_process *p,
		       struct opened *o)
{
	int root = p->pod_uid[0] ? open_its_root(v, folder, p->pid) : -1;

	for (size_t i = 0; root >= 0 && i < NR_SMALL; i++)
		o->small[i] = under_open_file(root, small[i].path);
	if (root >= 0)
		close(root);
}

static void open_runtime(const struct visit *v, const struct visit_process *p, struct opened *o)
{
	char *path;

	for (size_t i = 0; p->asks_runtime && p->id[0] && i < MAX_RUNTIME; i++) {
		path = runtime_file_path(i, p->id);
		if (!path)
			break;
		o->runtime[i] = under_open_file(v->root, path);
		free(path);
	}
}

static void open_all(struct visit *v, const struct visit_process *p, struct opened *o)
{
	char path[64];
	int folder;

	memset(o, 0xff, sizeof(*o));
	snprintf(path, sizeof(path), "/proc/%u", p->pid);
	folder = under_open(v->root, path, O_PATH | O_DIRECTORY);
	if (folder < 0)
		return;
	if (is_it(folder, p->start)) {
		o->environment = under_open(folder, "environ", O_RDONLY | O_NONBLOCK);
		o->maps = under_open(folder, "maps", O_RDONLY | O_NONBLOCK);
		o->memory = under_open(folder, "mem", O_RDONLY | O_NONBLOCK);
		open_small(v, folder, p, o);
		open_runtime(v, p, o);
	}
	close(folder);
}

/* Once for all: the names of its folders are those of the pods. */
static void look_at_logs(struct visit *v)
{
	int fd = under_open(v->root, "/var/log/pods", O_RDONLY | O_DIRECTORY);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d)))
		for (v->process = 0; v->process < v->q->nr; v->process++)
			if (v->q->v[v->process].pod_uid[0])
				runtime_log_folder(e->d_name, v->q->v[v->process].pod_uid, put, v);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static bool has_pods(const struct visit_question *q)
{
	for (uint32_t i = 0; i < q->nr; i++)
		if (q->v[i].pod_uid[0])
			return true;
	return false;
}

/* To be freed. NULL: it cannot be read. */
static char *read_all(int fd, size_t max, size_t *len)
{
	char *text = fd < 0 ? NULL : xmalloc(max);
	long got = text ? under_read(fd, text, max) : -1;

	*len = got < 0 ? 0 : got;
	if (got > 0)
		return text;
	free(text);
	return NULL;
}

static bool read_memory(void *arg, uint64_t address, void *to, size_t sz)
{
	const int *fd = arg;

	return *fd >= 0 && pread(*fd, to, sz, (off_t)address) == (ssize_t)sz;
}

static void look_at_context(struct visit *v, struct opened *o)
{
	size_t len;
	char *maps = read_all(o->maps, MAX_MAPS, &len);
	uint64_t at = maps ? process_context_find(maps, len) : 0;

	if (at)
		process_context_get(at, read_memory, &o->memory, put, v);
	free(maps);
}

static void look_at_small(struct visit *v, const struct opened *o)
{
	for (size_t i = 0; i < NR_SMALL; i++) {
		char text[MAX_SMALL];
		long len = o->small[i] < 0 ? 0 : under_read(o->small[i], text, sizeof(text) - 1);

		text[len < 0 ? 0 : len] = '\0';
		text[strcspn(text, "\r\n")] = '\0';
		if (*text)
			put(v, small[i].fact, text, strlen(text));
	}
}

static void look_at_process(struct visit *v, struct opened *o)
{
	size_t len;
	char *text = read_all(o->environment, MAX_ENVIRONMENT, &len);

	v->has_service = false;
	if (text)
		environment_parse(text, len, put, v);
	free(text);
	if (!v->has_service)
		look_at_context(v, o);
	look_at_small(v, o);
	for (size_t i = 0; i < MAX_RUNTIME; i++) {
		text = read_all(o->runtime[i], RUNTIME_FILE_MAX_BYTES, &len);
		if (text)
			runtime_file_parse(i, text, len, put, v);
		free(text);
	}
}

int visit_run(struct reader_work *w)
{
	struct visit v = { .q = w->question, .w = w };
	int err;

	if (w->question_sz != sizeof(*v.q) || v.q->nr > VISIT_MAX)
		return -EINVAL;
	v.is_ours = !v.q->root[0];
	v.root = open(v.is_ours ? "/" : v.q->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (v.root < 0)
		return -errno;
	for (uint32_t i = 0; i < v.q->nr; i++)
		open_all(&v, &v.q->v[i], &v.opened[i]);
	if (has_pods(v.q))
		look_at_logs(&v);
	err = jail_enter(JAIL_NS);
	for (v.process = 0; !err && v.process < v.q->nr; v.process++)
		look_at_process(&v, &v.opened[v.process]);
	return err;
}
