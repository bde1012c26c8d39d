/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files appear complete (base/outfile.h), so what is damaged was damaged by others. */
#include "push/queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/outfile.h"

#define MAGIC	  "bpfprof-push 1"
#define EXTENSION ".push"
#define LOCK	  ".lock"
#define MAX_PARTS 100000
#define MAX_BYTES (256ul << 20)
#define QUIET_NS  60000000000ull

int spool_open(struct spool *s, const char *dir, uint64_t cap_bytes)
{
	*s = (struct spool){ .cap_bytes = cap_bytes, .lock = -1, .dir = -1 };
	if (!dir)
		return 0;
	s->dir = folder_make(dir);
	if (s->dir < 0)
		return log_err(s->dir, "cannot open the spool %s", dir);
	if (!folder_is_ours(s->dir))
		return log_as(-EROFS,
			      "others can write to the spool %s, and would have us send what they "
			      "like: use a folder of your own (chmod go-w %s)",
			      dir, dir);
	s->lock = openat(s->dir, LOCK, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return log_err(-errno, "cannot write to the spool %s", dir);
	if (flock(s->lock, LOCK_EX | LOCK_NB))
		return log_as(-EBUSY, "another bpfprof uses the spool %s: give each its own", dir);
	return 0;
}

void spool_close(struct spool *s)
{
	if (s->lock >= 0)
		close(s->lock);
	if (s->dir >= 0)
		close(s->dir);
}

/* --- items --- */

static void item_free(struct item *item)
{
	free(item->bytes);
	free(item->lens);
	free(item->name);
	free(item);
}

static int by_time(const void *x, const void *y)
{
	const struct item *a = *(struct item *const *)x, *b = *(struct item *const *)y;

	if (a->window_ns != b->window_ns)
		return a->window_ns < b->window_ns ? -1 : 1;
	return a->seq == b->seq ? 0 : a->seq < b->seq ? -1 : 1;
}

static void insert(struct spool *s, struct queue *q, struct item *item)
{
	q->v = xgrow(q->v, q->nr, &q->cap, sizeof(*q->v));
	q->v[q->nr++] = item;
	s->bytes += item->len;
	for (size_t i = q->nr - 1; i > 0 && by_time(&q->v[i - 1], &q->v[i]) > 0; i--) {
		struct item *later = q->v[i - 1];

		q->v[i - 1] = q->v[i];
		q->v[i] = later;
	}
}

struct item *queue_add(struct spool *s, struct queue *q, struct request *r, uint64_t window_ns)
{
	struct item *item = xcalloc(1, sizeof(*item));

	*item = (struct item){ .window_ns = window_ns,
			       .born_ns = now_ns(),
			       .seq = s->seq++,
			       .bytes = r->bytes,
			       .lens = r->lens,
			       .nr = r->nr,
			       .len = r->len };
	*r = (struct request){};
	insert(s, q, item);
	return item;
}

void queue_remove(struct spool *s, struct queue *q, struct item *item)
{
	size_t i = 0;

	while (q->v[i] != item)
		i++;
	memmove(q->v + i, q->v + i + 1, (q->nr - i - 1) * sizeof(*q->v));
	q->nr--;
	s->bytes -= item->len;
	if (item->name)
		unlinkat(s->dir, item->name, 0);
	item_free(item);
}

void queue_release(struct queue *q)
{
	for (size_t i = 0; i < q->nr; i++)
		item_free(q->v[i]);
	free(q->v);
	free(q->key);
}

/* --- files --- */

bool queue_spool(struct spool *s, struct queue *q, struct item *item)
{
	struct outfile *o;
	FILE *out;
	char *name;

	if (item->name || s->dir < 0)
		return item->name;
	if (now_ns() < s->quiet_until_ns)
		return false;
	name = xasprintf("%020" PRIu64 "-%06" PRIu64 ".%s%s", item->window_ns, item->seq, q->key,
			 EXTENSION);
	o = outfile_open_at(s->dir, name);
	if (o) {
		out = outfile_stream(o);
		fprintf(out, "%s %zu", MAGIC, item->nr);
		for (size_t i = 0; i < item->nr; i++)
			fprintf(out, " %zu", item->lens[i]);
		putc('\n', out);
		fwrite(item->bytes, 1, item->len, out);
	}
	if (!o || outfile_commit(o)) {
		s->quiet_until_ns = now_ns() + QUIET_NS;
		free(name);
		return false;
	}
	item->name = name;
	free(item->bytes);
	item->bytes = NULL;
	return true;
}

/* Line and parts; what does not add up is damaged. */
static bool read_item(struct item *item, FILE *in)
{
	size_t nr, sum = 0;

	if (fscanf(in, MAGIC " %zu", &nr) != 1 || !nr || nr > MAX_PARTS)
		return false;
	free(item->lens);
	item->lens = xcalloc(nr, sizeof(*item->lens));
	item->nr = nr;
	for (size_t i = 0; i < nr; i++) {
		if (fscanf(in, " %zu", &item->lens[i]) != 1 || item->lens[i] > MAX_BYTES - sum)
			return false;
		sum += item->lens[i];
	}
	if (getc(in) != '\n')
		return false;
	item->bytes = xmalloc(sum + 1);
	return fread(item->bytes, 1, sum + 1, in) == sum;
}

bool item_load(const struct spool *s, struct item *item)
{
	size_t sum = 0;
	FILE *in;
	bool ok;
	int fd;

	if (item->bytes)
		return true;
	fd = openat(s->dir, item->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	in = fd < 0 ? NULL : fdopen(fd, "r");
	ok = in && read_item(item, in);
	if (in)
		fclose(in);
	for (size_t i = 0; ok && i < item->nr; i++)
		sum += item->lens[i];
	if (!ok) {
		free(item->bytes);
		item->bytes = NULL;
	}
	return ok;
}

static struct item *item_of_file(struct spool *s, struct queue *q, const char *name)
{
	char *end = xasprintf(".%s%s", q->key, EXTENSION), *rest;
	uint64_t window_ns = strtoull(name, &rest, 10), seq;
	struct item *item = NULL;
	struct stat st;

	seq = *rest == '-' ? strtoull(rest + 1, &rest, 10) : 0;
	if (rest != name && !strcmp(rest, end) &&
	    !fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode)) {
		item = xcalloc(1, sizeof(*item));
		*item = (struct item){ .window_ns = window_ns,
				       .seq = seq,
				       .born_ns = now_ns(),
				       .len = st.st_size,
				       .name = xstrdup(name) };
	}
	free(end);
	return item;
}

size_t spool_resume(struct spool *s, struct queue *q)
{
	int fd = s->dir < 0 ? -1 : openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t nr = 0;

	while (dir && (entry = readdir(dir))) {
		struct item *item = item_of_file(s, q, entry->d_name);

		if (!item)
			continue;
		insert(s, q, item);
		s->seq = item->seq >= s->seq ? item->seq + 1 : s->seq;
		nr++;
	}
	if (dir)
		closedir(dir);
	return nr;
}
