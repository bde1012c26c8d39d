/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening mapped files. The file is looked at through O_PATH first, which neither blocks on a FIFO
 * nor wakes a device, and opened for reading only when it is regular and the very inode that was
 * mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "proc/proc.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "proc/maps.h"

/* Changed means: written, replaced, or an inode number that now belongs to a younger file. */
static bool is_unchanged_since(const struct stat *st, uint64_t seen_ns)
{
	uint64_t seen_real = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) + seen_ns;

	return st->st_ctim.tv_sec * 1000000000ull + st->st_ctim.tv_nsec <= seen_real;
}

static bool is_same(const struct stat *st, const struct proc_open *o)
{
	return S_ISREG(st->st_mode) && st->st_ino == o->ino && major(st->st_dev) == o->dev_major &&
	       minor(st->st_dev) == o->dev_minor && is_unchanged_since(st, o->seen_ns);
}

/*
 * exact: the path leads to the mapping itself, whose device number may differ from stat's (btrfs,
 * overlayfs).
 */
static int reopen_checked(int fd, const struct proc_open *o, bool exact)
{
	char link[32];
	struct stat st;
	int rd = -1;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) &&
	    (is_same(&st, o) || (exact && S_ISREG(st.st_mode) && st.st_ino == o->ino))) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		rd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	}
	close(fd);
	return rd;
}

static int open_checked(const char *path, const struct proc_open *o, bool exact)
{
	return reopen_checked(open(path, O_PATH | O_CLOEXEC), o, exact);
}

static int open_exact(const struct proc_open *o, uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%lx-%lx", pid, o->start, o->end);
	return open_checked(path, o, true);
}

int proc_open_below(const struct proc_open *o, int folder, const char *at)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS };

	return reopen_checked(syscall(SYS_openat2, folder, at, &how, sizeof(how)), o, false);
}

static int open_of(const struct proc_open *o, uint32_t pid)
{
	char path[sizeof(o->path) + 64];
	int fd = o->by_path ? -1 : open_exact(o, pid);

	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/root%s", pid, o->path);
	return open_checked(path, o, false);
}

int proc_open_mapped(const struct proc_open *o)
{
	int fd = open_of(o, o->pid);
	uint32_t other = fd < 0 ? maps_living_thread(o->pid) : o->pid;

	if (other != o->pid)
		fd = open_of(o, other);
	if (fd < 0)
		fd = open_checked(o->path, o, false);
	return fd < 0 ? -ENOENT : fd;
}

void proc_file_open(struct proc_file *f, uint32_t pid, const struct proc_mapping *m)
{
	uint64_t now = now_ns();
	struct proc_open o = { .start = m->start,
			       .end = m->end,
			       .ino = f->key.ino,
			       .seen_ns = f->seen_ns,
			       .dev_major = f->key.dev_major,
			       .dev_minor = f->key.dev_minor,
			       .pid = pid };

	if (f->tried)
		return;
	f->tried = true;
	if (strlen(f->path) >= sizeof(o.path))
		return;
	strcpy(o.path, f->path);
	f->fd = f->opener ? f->opener->open(f->opener->arg, &o) : proc_open_mapped(&o);
	if (f->fd < 0)
		f->fd = -1;
	else
		f->id = o.id;
	f->is_system = o.is_system;
	f->was_settled = file_id_is_settled(&f->id);
	f->checked_ns = now;
}

bool proc_file_is_same(const struct proc_file *f)
{
	struct file_id id;

	if (f->fd < 0 || !file_id_is_known(&f->id))
		return true;
	id = file_id_again(f->fd);
	return file_id_has_bytes_of(&f->id, &id);
}

/* One of its versions, by a key of its own. */
static struct proc_file *add_version(struct proc_table *t, const struct proc_file *f,
				     const struct proc_file_key *key, uint64_t since_ns)
{
	struct proc_file *v = xcalloc(1, sizeof(*v));

	v->key = *key;
	v->path = xstrndup(f->path, strlen(f->path));
	v->fd = -1;
	v->opener = f->opener;
	v->tried = true;
	v->seen_ns = v->since_ns = since_ns;
	HASH_ADD(hh, t->files, key, sizeof(v->key), v);
	v->users = 1;
	return v;
}

/* When it changed, on the clock of samples. A clock that was set must not make this the future. */
static uint64_t changed_ns(const struct file_id *id)
{
	uint64_t real = clock_ns(CLOCK_REALTIME), now = now_ns();
	uint64_t ago = id->changed_ns < real ? real - id->changed_ns : 0;

	return ago < now ? now - ago : 0;
}

/*
 * What it was is over: from checked_ns on nobody knows what it was, until it became what it is now.
 */
static void add_versions(struct proc_table *t, struct proc_file *f, const struct file_id *id,
			 uint64_t since_ns)
{
	struct proc_file_key present = f->key, past = f->key;
	struct proc_file *last = f, *now;

	HASH_DEL(t->files, f);
	f->key.past = ++t->nr_past;
	HASH_ADD(hh, t->files, key, sizeof(f->key), f);
	if (!file_id_has_bytes_of(&f->id, id)) {
		past.past = ++t->nr_past;
		last = f->newer = add_version(t, f, &past, f->checked_ns + 1);
	}
	now = last->newer = add_version(t, f, &present, since_ns);
	now->fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 3);
	now->id = *id;
	now->is_system = f->is_system;
	now->was_settled = file_id_is_settled(id);
	now->checked_ns = now_ns();
	log_info("%s: it was written to: what runs from now on is another file", f->path);
}

/* Only the present one can change. */
static void look_again(struct proc_table *t, struct proc_file *f, uint64_t time_ns, bool mapped)
{
	uint64_t now, since;
	struct file_id id;

	if (f->key.past || f->fd < 0 || time_ns <= f->checked_ns || !file_id_is_known(&f->id))
		return;
	now = now_ns();
	id = file_id_again(f->fd);
	since = changed_ns(&id);
	if (file_id_equals(&f->id, &id) ||
	    (file_id_has_bytes_of(&f->id, &id) && !(mapped && since <= time_ns))) {
		f->checked_ns = now;
		return;
	}
	add_versions(t, f, &id, since > f->checked_ns ? since : f->checked_ns + 1);
}

struct proc_file *proc_file_at(struct proc_table *t, struct proc_file *f, uint64_t time_ns,
			       bool mapped)
{
	look_again(t, f, time_ns, mapped);
	while (f->newer && time_ns >= f->newer->since_ns)
		f = f->newer;
	return f;
}
