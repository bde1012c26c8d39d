/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes: what is heard of them, and what /proc says. */
#include "proc/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <utlist.h>

#include "base/mem.h"
#include "proc/image.h"
#include "proc/maps.h"

#define ASK_NS	   100000000ull /* a process that outlives its main thread is asked for again … */
#define MIN_FILES  1024
#define MOST_FILES 8192		  /* some 4 MB */
#define ASK_MAX_NS 10000000000ull /* … ever more seldom */

void proc_init(struct proc_table *t, bool track_all, bool follow)
{
	*t = (struct proc_table){ .track_all = track_all,
				  .follow = follow,
				  .most_files = MOST_FILES };
}

static void process_ends(struct proc_table *t, struct process *p, uint64_t time_ns)
{
	if (!p->exit_ns) {
		DL_APPEND(t->ended, p);
		t->nr_ended++;
	}
	p->exit_ns = time_ns;
	p->ask_ns = 0;
	p->ask_step_ns = ASK_NS;
}

/* What ended goes on: an exec by another thread, or its number belongs to another one. */
static void process_goes_on(struct proc_table *t, struct process *p)
{
	if (!p->exit_ns)
		return;
	DL_DELETE(t->ended, p);
	t->nr_ended--;
	p->exit_ns = 0;
}

static void process_free(struct proc_table *t, struct process *p)
{
	process_goes_on(t, p);
	HASH_DEL(t->processes, p);
	image_free(p->image);
	free(p);
}

struct process *proc_find(struct proc_table *t, uint32_t pid)
{
	struct process *p;

	HASH_FIND(hh, t->processes, &pid, sizeof(pid), p);
	return p;
}

static struct proc_name *name_find(const struct proc_table *t, uint32_t pid)
{
	struct proc_name *n;

	HASH_FIND(hh, t->names, &pid, sizeof(pid), n);
	return n;
}

static void name_keep(struct proc_table *t, const struct process *p)
{
	struct proc_name *n = name_find(t, p->pid);

	if (!n) {
		n = xcalloc(1, sizeof(*n));
		n->pid = p->pid;
		HASH_ADD(hh, t->names, pid, sizeof(n->pid), n);
	}
	memcpy(n->name, p->name, sizeof(n->name));
}

const char *proc_name(const struct proc_table *t, uint32_t pid)
{
	struct proc_name *n = name_find(t, pid);
	struct process *p;

	HASH_FIND(hh, t->processes, &pid, sizeof(pid), p);
	if (p && (p->sampled || !n))
		return p->name;
	return n ? n->name : NULL;
}

static struct process *process_get(struct proc_table *t, uint32_t pid)
{
	struct process *p = proc_find(t, pid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	HASH_ADD(hh, t->processes, pid, sizeof(p->pid), p);
	image_push(p, 0);
	return p;
}

static struct proc_file *file_get(struct proc_table *t, const struct proc_file_key *key,
				  const char *path, uint64_t now_ns)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), cut = sizeof(deleted) - 1;
	struct proc_file *f;

	HASH_FIND(hh, t->files, key, sizeof(*key), f);
	if (f)
		return proc_file_at(t, f, now_ns, true);
	if (len > cut && !strcmp(path + len - cut, deleted))
		len -= cut;
	f = xcalloc(1, sizeof(*f));
	f->key = *key;
	f->path = xstrndup(path, len);
	f->fd = -1;
	f->seen_ns = now_ns;
	f->opener = t->opener;
	HASH_ADD(hh, t->files, key, sizeof(f->key), f);
	return f;
}

/*
 * Shared memory has the name of a file that never was. PHP generates code into shared anonymous
 * memory, .NET and asmjit (Erlang) into a memfd that they map twice, to write at one place what
 * they run at the other. Other memfds may hold libraries.
 */
static bool is_memory(const char *path)
{
	static const char *const names[] = { "/dev/zero", "/memfd:doublemapper", "/memfd:vmem" };
	size_t len = strcspn(path, " "); /* " (deleted)" */

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(path, names[i], len) && !names[i][len])
			return true;
	return false;
}

/* Files and the vDSO have identity; "//anon", "[heap]" and the like are memory without a file. */
static struct proc_file *file_of(struct proc_table *t, const struct proc_file_key *key,
				 const char *path, uint64_t now_ns)
{
	static const struct proc_file_key none;

	if (!strcmp(path, "[vdso]"))
		return file_get(t, &none, path, now_ns);
	if (path[0] != '/' || !key->ino || is_memory(path))
		return NULL;
	return file_get(t, key, path, now_ns);
}

void proc_on_mmap(struct proc_table *t, const struct proc_mmap *m, uint64_t time_ns)
{
	struct process *p = t->track_all ? process_get(t, m->pid) : proc_find(t, m->pid);
	struct proc_mapping map = { .start = m->start,
				    .end = m->start + m->len,
				    .file_offset = m->file_offset,
				    .from_ns = time_ns,
				    .to_ns = UINT64_MAX };

	if (!p || map.end <= map.start)
		return;
	map.file = file_of(t, &m->key, m->path, time_ns);
	image_map(p, &map, t->settled_ns);
}

static void process_rename(struct process *p, const char *name)
{
	size_t len = strnlen(name, sizeof(p->name) - 1);

	memmove(p->name, name, len);
	memset(p->name + len, 0, sizeof(p->name) - len);
}

void proc_on_comm(struct proc_table *t, uint32_t pid, uint32_t tid, const char *name, bool exec,
		  uint64_t time_ns)
{
	struct process *p = t->track_all ? process_get(t, pid) : proc_find(t, pid);

	if (!p)
		return;
	if (pid == tid || exec)
		process_rename(p, name);
	if (!exec)
		return;
	process_goes_on(t, p);
	p->nr_threads = 0;
	if (time_ns <
	    p->image->snapshot_ns) /* /proc was read later: what it said is of the new image */
		p->image->from_ns = time_ns;
	else
		image_push(p, time_ns);
	image_forget_older(p->image, t->settled_ns);
}

void proc_on_fork(struct proc_table *t, uint32_t parent, uint32_t pid, uint32_t tid,
		  uint64_t time_ns)
{
	struct process *from = proc_find(t, parent), *p;
	struct proc_image *image;

	if (from && pid != tid && pid == parent)
		from->nr_threads++;
	if (pid != tid || pid == parent || (!t->track_all && !(from && t->follow)))
		return;
	p = process_get(t, pid);
	if (p->image->snapshot_ns > time_ns)
		return;
	process_goes_on(t, p);
	p->nr_threads = 0;
	p->is_counted = true;
	image = image_push(p, time_ns);
	if (!from)
		return;
	process_rename(p, from->name);
	image_copy(image, from->image);
}

void proc_on_exit(struct proc_table *t, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct process *p = proc_find(t, pid);

	/*
	 * A leader may leave before its threads: they still run in its mappings, so only note when.
	 */
	if (p && pid == tid)
		process_ends(t, p, time_ns);
	else if (p && p->nr_threads)
		p->nr_threads--;
}

bool proc_has_ended(const struct process *p)
{
	return p->exit_ns && p->is_counted && !p->nr_threads;
}

/*
 * Its main thread has left: have the others? Their records tell; /proc does where some are missing.
 */
static bool is_gone(struct process *p, uint64_t time_ns)
{
	if (proc_has_ended(p))
		return true;
	if (time_ns < p->ask_ns)
		return false;
	if (!maps_is_alive(p->pid))
		return true;
	p->ask_ns = time_ns + p->ask_step_ns;
	if (p->ask_step_ns < ASK_MAX_NS)
		p->ask_step_ns *= 2;
	return false;
}

bool proc_all_ended(const struct proc_table *t)
{
	const struct process *p;

	if (HASH_COUNT(t->processes) > t->nr_ended)
		return false;
	DL_FOREACH(t->ended, p)
	if (maps_is_alive(p->pid))
		return false;
	return true;
}

static void mark_mapped(struct proc_image *image)
{
	for (; image; image = image->older) {
		for (size_t i = 0; i < image->nr_maps; i++)
			if (image->maps[i].file)
				image->maps[i].file->mapped = true;
		for (size_t i = 0; i < image->nr_old; i++)
			if (image->old[i].file)
				image->old[i].file->mapped = true;
	}
}

static void file_free(struct proc_table *t, struct proc_file *f)
{
	HASH_DEL(t->files, f);
	if (f->newer)
		f->newer->users--;
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f);
}

/* O(mappings and files). How many are left. */
static size_t forget_unmapped(struct proc_table *t)
{
	struct proc_file *f, *ftmp;
	struct process *p;

	for (f = t->files; f; f = f->hh.next)
		f->mapped = false;
	for (p = t->processes; p; p = p->hh.next)
		mark_mapped(p->image);
	HASH_ITER (hh, t->files, f, ftmp)
		if (!f->mapped && !f->module && !f->users)
			file_free(t, f);
	return HASH_COUNT(t->files);
}

/* Not again before there are a quarter more. */
static void forget_files(struct proc_table *t)
{
	size_t left;

	if (HASH_COUNT(t->files) <= t->max_files)
		return;
	left = forget_unmapped(t);
	t->max_files = left + left / 4 + MIN_FILES;
}

void proc_limit(struct proc_table *t)
{
	struct process *p;

	if (HASH_COUNT(t->files) <= t->most_files)
		return;
	for (p = t->processes; p; p = p->hh.next)
		t->nr_cut += image_cut_old(p->image);
	t->most_files = forget_unmapped(t) + MOST_FILES;
}

void proc_prune(struct proc_table *t, uint64_t before_ns)
{
	struct process *p, *tmp;

	DL_FOREACH_SAFE(t->ended, p, tmp)
	{
		if (p->exit_ns >= before_ns)
			break;
		if (!is_gone(p, before_ns))
			continue;
		if (p->sampled)
			name_keep(t, p);
		process_free(t, p);
	}
	t->settled_ns = before_ns;
	forget_files(t);
}

struct snapshot {
	struct proc_table *t;
	struct process *p;
	uint64_t since_ns, now_ns;
	uint64_t from_ns; /* of mappings of p */
	const uint32_t *pids;
	int err; /* of the last one */
};

static void snapshot_line(void *arg, const struct maps_line *line)
{
	const struct snapshot *s = arg;
	struct proc_file_key key = { line->ino, line->dev_major, line->dev_minor, 0 };
	struct proc_mapping m = { .start = line->start,
				  .end = line->end,
				  .file_offset = line->file_offset,
				  .from_ns = s->from_ns,
				  .to_ns = UINT64_MAX };

	m.file = file_of(s->t, &key, line->path, s->now_ns);
	image_map(s->p, &m, s->t->settled_ns);
}

/* What the first look at a process finds was there before; what a later one finds anew was not. */
static int begin_look(struct snapshot *s, uint32_t pid)
{
	struct process *p;
	char name[16];
	int err;

	err = maps_read_name(pid, name, sizeof(name));
	if (err)
		return err;
	p = process_get(s->t, pid);
	process_rename(p, name);
	s->p = p;
	s->from_ns = 0;
	if (p->image->snapshot_ns || p->image->nr_maps)
		s->from_ns = s->since_ns;
	else
		p->image->snapshot_ns = s->now_ns;
	p->checked_ns = s->now_ns;
	return 0;
}

static void take_maps(void *arg, size_t i, const void *lines, ssize_t len)
{
	struct snapshot *s = arg;
	char *text;

	s->err = begin_look(s, s->pids[i]);
	if (!s->err && len < 0)
		s->err = (int)len;
	if (s->err || len <= 0)
		return;
	text = xmalloc(len);
	memcpy(text, lines, len);
	maps_take(text, len, snapshot_line, s);
	free(text);
}

static int look_at_all(struct snapshot *s, const uint32_t *pids, size_t nr)
{
	const struct proc_mapper *m = s->t->mapper;

	s->pids = pids;
	if (m)
		m->read(m->arg, pids, nr, take_maps, s);
	for (size_t i = 0; i < nr && !m; i++) {
		s->err = begin_look(s, pids[i]);
		if (!s->err)
			s->err = maps_read(pids[i], snapshot_line, s);
	}
	return s->err;
}

int proc_snapshot(struct proc_table *t, uint32_t pid, uint64_t now_ns)
{
	struct snapshot s = { .t = t, .since_ns = now_ns, .now_ns = now_ns };

	return look_at_all(&s, &pid, 1);
}

static void snapshot_all_since(struct proc_table *t, uint64_t since_ns, uint64_t now_ns)
{
	struct snapshot s = { .t = t, .since_ns = since_ns, .now_ns = now_ns };
	DIR *dir = opendir("/proc");
	uint32_t *pids = NULL;
	size_t nr = 0, cap = 0;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		pids = xgrow(pids, nr, &cap, sizeof(*pids));
		pids[nr++] = strtoul(e->d_name, NULL, 10);
	}
	if (dir)
		closedir(dir);
	look_at_all(&s, pids, nr);
	free(pids);
}

void proc_snapshot_all(struct proc_table *t, uint64_t now_ns)
{
	snapshot_all_since(t, now_ns, now_ns);
}

void proc_recheck(struct proc_table *t, uint64_t since_ns, uint64_t now_ns)
{
	struct snapshot s = { .t = t, .since_ns = since_ns, .now_ns = now_ns };
	struct process *p, *tmp;

	if (t->track_all)
		snapshot_all_since(t, since_ns, now_ns);
	HASH_ITER (hh, t->processes, p, tmp) {
		p->is_counted = false;
		if (!p->exit_ns && !maps_is_alive(p->pid))
			process_ends(t, p, now_ns);
		else if (!p->exit_ns && !t->track_all)
			look_at_all(&s, &p->pid, 1);
	}
}

void proc_release(struct proc_table *t)
{
	struct process *p, *ptmp;
	struct proc_name *n, *ntmp;
	struct proc_file *f, *ftmp;

	HASH_ITER (hh, t->processes, p, ptmp)
		process_free(t, p);
	HASH_ITER (hh, t->names, n, ntmp) {
		HASH_DEL(t->names, n);
		free(n);
	}
	HASH_ITER (hh, t->files, f, ftmp)
		f->newer = NULL;
	HASH_ITER (hh, t->files, f, ftmp)
		file_free(t, f);
}
