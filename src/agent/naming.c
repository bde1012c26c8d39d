/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A gathered profile that grows in all but samples, of which the growth is written. */
#include "agent/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "profile/gather.h"
#include "profile/lacks.h"
#include "profile/save.h"

#define MOST_WINDOWS 128
#define MOST_STRINGS (4u << 20)
#define SHORT_NS     1000000000ull /* of threads that keep no ids of their own */
#define SECOND	     1000000000ull
#define COARSE	     2 /* seconds, that file systems may cut times to */

struct naming {
	char *file;
	uint64_t max_bytes, bytes; /* of the file */
	struct gather *g;
	struct save_mark mark;
	struct lacks told; /* by the windows so far */
	uint8_t *flags;	   /* of stacks, as they were written */
	size_t nr_flags, nr_windows;
	uint64_t last_ns; /* begin of the last window */
};

struct naming *naming_new(char *file, uint64_t max_bytes)
{
	struct naming *n = xcalloc(1, sizeof(*n));

	n->file = file;
	n->max_bytes = max_bytes;
	n->g = gather_new(SHORT_NS);
	profile_name_facts(gather_result(n->g));
	return n;
}

void naming_free(struct naming *n)
{
	if (!n)
		return;
	profile_free(gather_take(n->g));
	save_mark_release(&n->mark);
	lacks_release(&n->told);
	free(n->flags);
	free(n->file);
	free(n);
}

static int compare(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
}

/* Who is alike comes together, which packs into a tenth less. */
static int by_who(const void *x, const void *y)
{
	const struct sample *a = x, *b = y;

	return compare(a->process, b->process)	?: compare(a->thread, b->thread) ?:
	       compare(a->pid, b->pid)		?: compare(a->tid, b->tid) ?:
	       compare(a->wait, b->wait)	?: compare(a->ustack, b->ustack) ?:
	       compare(a->kstack, b->kstack);
}

/* Where a stack ends may be known better by now than when it was written. */
static bool are_as_written(const struct naming *n, const struct profile *p)
{
	for (size_t i = 0; i < n->nr_flags; i++)
		if (p->stacks[i].flags != n->flags[i])
			return false;
	return true;
}

static void note_flags(struct naming *n, const struct profile *p)
{
	n->flags = xreallocarray(n->flags, p->nr_stacks + 1, 1);
	for (; n->nr_flags < p->nr_stacks; n->nr_flags++)
		n->flags[n->nr_flags] = p->stacks[n->nr_flags].flags;
}

static bool has_grown(const struct naming *n, const struct profile *p)
{
	return p->strings.len > n->mark.strings || p->nr_stacks > n->nr_flags;
}

bool naming_pack(struct naming *n, const struct profile *p, struct naming_pack *to)
{
	struct profile *all = gather_result(n->g), bare = *p; /* lent */

	*to = (struct naming_pack){};
	if (n->nr_windows && (n->nr_windows == MOST_WINDOWS || p->meta.start_ns < n->last_ns ||
			      n->bytes > n->max_bytes || all->strings.len > MOST_STRINGS))
		return false;
	gather_clear(n->g);
	bare.meta.lacks = 0;
	if (gather_add(n->g, &bare, NULL) || !are_as_written(n, all))
		return false;
	lacks_tell(&n->told, profile_str(p, p->meta.lacks), all);
	qsort(all->samples, all->nr_samples, sizeof(*all->samples), by_who);
	if (has_grown(n, all)) {
		to->names = profile_pack_names(all, &n->mark, &to->names_len);
		note_flags(n, all);
	}
	to->window = profile_pack_window(all, n->file, n->bytes + to->names_len, &to->window_len);
	n->nr_windows++;
	n->last_ns = p->meta.start_ns;
	return true;
}

void naming_pack_release(struct naming_pack *p)
{
	free(p->names);
	free(p->window);
}

static int write_all(int fd, const char *bytes, size_t len, uint64_t at)
{
	ssize_t n;

	for (; len; bytes += n, len -= n, at += n) {
		n = pwrite(fd, bytes, len, at);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

/* Nobody but us writes it: if it is not as we left it, another one has to begin. */
static int open_file(const struct naming *n, int dir)
{
	int flags = O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, n->file, flags | (n->bytes ? 0 : O_CREAT | O_EXCL), 0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && (uint64_t)st.st_size == n->bytes)
		return fd;
	close(fd);
	return -ESTALE;
}

int naming_append(struct naming *n, int dir, const struct naming_pack *p, uint64_t begin_ns)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { begin_ns / SECOND + COARSE, 0 } };
	int fd = open_file(n, dir), err;

	if (fd < 0)
		return fd;
	err = write_all(fd, p->names, p->names_len, n->bytes);
	if (err && (!n->bytes || ftruncate(fd, n->bytes)))
		unlinkat(dir, n->file, 0);
	if (!err)
		n->bytes += p->names_len;
	if (!err && futimens(fd, times))
		err = -errno;
	close(fd);
	return err;
}

const char *naming_file(const struct naming *n)
{
	return n->file;
}

uint64_t naming_bytes(const struct naming *n)
{
	return n->bytes;
}
