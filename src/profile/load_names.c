/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loading what windows share. It is as much from outside as they are; whether what they refer to is
 * there is judged of each window with it (profile/check.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/packed.h"
#include "profile/load_parts.h"

#define MAX_NAMES (1ull << 28)

struct shared_names {
	char *path;
	struct profile p; /* strings and shared tables only */
	uint64_t bytes;
	struct packed_stream *stream; /* of parts that go on, so far */
};

struct shared_names *shared_names_new(void)
{
	return xcalloc(1, sizeof(struct shared_names));
}

const struct profile *shared_names_profile(const struct shared_names *s)
{
	return s->path ? &s->p : NULL;
}

static void shared_clear(struct shared_names *s)
{
	for (size_t i = 0; i < save_nr_tables; i++)
		if (save_tables[i].shared)
			free(*save_rows(&save_tables[i], &s->p));
	free(s->p.strings.bytes);
	packed_stream_free(s->stream);
	free(s->path);
	*s = (struct shared_names){};
}

void shared_names_free(struct shared_names *s)
{
	if (s)
		shared_clear(s);
	free(s);
}

static const char *add_strings(struct profile *p, const struct loader *l)
{
	const struct section *s = loader_find(l, "STRS");
	const char *bytes = s ? s->bytes : NULL;

	if (!s || (s->len && bytes[s->len - 1]) || (!p->strings.len && (!s->len || *bytes)))
		return "damaged (strings)";
	if (s->len + p->strings.len >= MAX_NAMES)
		return "too large";
	p->strings.bytes = xreallocarray(p->strings.bytes, p->strings.len + s->len, 1);
	memcpy(p->strings.bytes + p->strings.len, bytes, s->len);
	p->strings.len += s->len;
	return NULL;
}

static const char *add_rows(struct profile *p, const struct loader *l, const struct table *t)
{
	size_t nr, *had = save_nr(t, p);
	const char *err;
	char *rows;

	err = loader_take(l, t->tag, t->size, t->strings, &rows, &nr);
	if (err)
		return err;
	if (nr) {
		*save_rows(t, p) = xreallocarray(*save_rows(t, p), *had + nr, t->size);
		memcpy((char *)*save_rows(t, p) + *had * t->size, rows, nr * t->size);
	}
	*had += nr;
	free(rows);
	return NULL;
}

/* As before parts went on: each by itself. */
static const char *open_whole(struct loader *l, const char *bytes, size_t len)
{
	l->bytes = xmalloc(len + 1);
	l->len = len;
	memcpy(l->bytes, bytes, len);
	return packed_is(l->bytes, len) ? packed_open(&l->bytes, &l->len, MAX_NAMES) : "damaged";
}

static const char *open_part(struct shared_names *s, struct loader *l,
			     const struct shared_part *part, const char *bytes)
{
	if (!part->how)
		return open_whole(l, bytes, part->bytes);
	if (part->how != SHARED_GOES_ON)
		return "damaged";
	if (!s->stream)
		s->stream = packed_stream_new();
	return packed_stream_open(s->stream, bytes, part->bytes, &l->bytes, &l->len, MAX_NAMES);
}

static const char *add_part(struct shared_names *s, const struct shared_part *part,
			    const char *bytes)
{
	struct profile *p = &s->p;
	struct loader l = {};
	const char *err = open_part(s, &l, part, bytes);

	if (!err)
		err = loader_split(&l);
	if (!err)
		err = l.is_packed ? add_strings(p, &l) : "damaged";
	if (!err)
		packing_init(&l.packing, p->strings.bytes, p->strings.len);
	for (size_t i = 0; i < save_nr_tables && !err; i++)
		if (save_tables[i].shared)
			err = add_rows(p, &l, &save_tables[i]);
	packing_release(&l.packing);
	free(l.bytes);
	return err;
}

/* A part of which some is damaged is not there. */
static void go_back(struct profile *p, const struct profile *had)
{
	p->strings.len = had->strings.len;
	for (size_t i = 0; i < save_nr_tables; i++)
		if (save_tables[i].shared)
			*save_nr(&save_tables[i], p) = *save_nr(&save_tables[i], had);
}

/* What was written last may be a part that is not whole; whoever needs it says so. */
static const char *add_parts(struct shared_names *s, const char *bytes, size_t len)
{
	struct shared_part part;
	const char *err = NULL;
	struct profile had;

	while (len - s->bytes > sizeof(part) && !err) {
		memcpy(&part, bytes + s->bytes, sizeof(part));
		if (part.bytes > len - s->bytes - sizeof(part))
			break;
		had = s->p;
		err = add_part(s, &part, bytes + s->bytes + sizeof(part));
		if (err)
			go_back(&s->p, &had);
		else
			s->bytes += sizeof(part) + part.bytes;
	}
	return s->bytes ? NULL : err;
}

/* It was written by whoever wrote the window, and waits for nobody. */
static const char *read_names(struct shared_names *s, char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct loader l = {};
	struct stat st;
	const char *err = NULL;

	shared_clear(s);
	s->path = path;
	if (fd < 0)
		return "the file with its names is missing";
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		err = "the file with its names is no file";
	if (err)
		close(fd);
	else
		err = loader_read(&l, fdopen(fd, "re"));
	if (!err)
		err = add_parts(s, l.bytes, l.len);
	free(l.bytes);
	return err;
}

const char *loader_find_names(struct loader *l, const char *path)
{
	const struct section *s = loader_find(l, SHARED_TAG);
	const char *slash = strrchr(path, '/'), *err = NULL;
	struct shared_head h;
	char *names;

	if (!s) {
		l->names = NULL;
		return NULL;
	}
	if (s->len != sizeof(h) || !l->names)
		return "damaged (its names)";
	memcpy(&h, s->bytes, sizeof(h));
	if (!memchr(h.file, 0, sizeof(h.file)) || !*h.file || strchr(h.file, '/'))
		return "damaged (its names)";
	names = xasprintf("%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, h.file);
	if (!l->names->path || strcmp(names, l->names->path) || l->names->bytes < h.bytes)
		err = read_names(l->names, names);
	else
		free(names);
	return err ? err : l->names->bytes < h.bytes ? "the file with its names is damaged" : NULL;
}
