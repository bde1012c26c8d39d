/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Headers and tables, as a child writes them and as we take them over. */
#include "unwind/reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

#define MAX_CODE   2048u /* segments; elf_file_open() takes fewer */
#define HEADERS_NS 300000000ull
#define TABLE_NS   3000000000ull /* the largest known take a tenth of that */
#define TIRED_NS   50000000ull	 /* when several files were not read in that time */
#define TIRED	   3

struct headers_answer {
	uint64_t words;
	uint32_t nr_code, has_python;
	struct source_code code[];
};

struct table_answer {
	uint64_t nr_words, first_page, nr_rows, nr_read, nr_unsupported;
	uint32_t arch, nr_pages, exceptions, nr_exceptions;
	uint32_t words[];
};

int reading_headers(struct reader_work *w)
{
	struct headers_answer *a = w->answer;
	struct elf_file *f = elf_file_open(w->fds[0]);
	struct source src = {};

	if (!f)
		return -ENOEXEC;
	source_take_headers(&src, f);
	a->words = src.words;
	a->nr_code = src.nr_code;
	a->has_python = src.has_python;
	memcpy(a->code, src.code, src.nr_code * sizeof(*src.code));
	w->sz = sizeof(*a) + src.nr_code * sizeof(*src.code);
	return 0;
}

int reading_table(struct reader_work *w)
{
	struct table_answer *a = w->answer;
	struct elf_file *f = elf_file_open(w->fds[0]);
	struct table t;
	int err = f ? table_build(&t, f, NULL) : -ENOEXEC;

	if (err)
		return err;
	w->sz = sizeof(*a) + t.nr_words * sizeof(*t.words);
	if (w->sz > w->max_sz)
		return -E2BIG;
	*a = (struct table_answer){ .nr_words = t.nr_words,
				    .first_page = t.first_page,
				    .nr_rows = t.nr_rows,
				    .nr_read = t.nr_read,
				    .nr_unsupported = t.nr_unsupported,
				    .arch = t.arch,
				    .nr_pages = t.nr_pages,
				    .exceptions = t.exceptions,
				    .nr_exceptions = t.nr_exceptions };
	memcpy(a->words, t.words, t.nr_words * sizeof(*t.words));
	return 0;
}

/* NULL: it is no file that has a table. */
static const char *says_why(const struct store *s, int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "reading it took too long";
	case -EPIPE:
		return s->o.reads_none ? "the process that read it died, perhaps for want of memory"
				       : "the process that read it died";
	case -EBUSY:
		return "too many that read files hung or were ended";
	case -ENOMEM:
		return "too little memory was left for its unwind table";
	case -EAGAIN:
	case -EMFILE:
		return strerror(-err);
	}
	return NULL;
}

/* A file that was not read in time, or whose reader died, costs its table, and is told. */
static int ask(struct store *s, const struct source *src, enum reader_row row, uint64_t ns,
	       struct reader_answer *a)
{
	struct reader_question q = { .task = row,
				     .bytes = "",
				     .fds = &src->file->fd,
				     .nr_fds = 1,
				     .timeout_ns = s->stats.nr_hung < TIRED ? ns : TIRED_NS,
				     .meanwhile = s->o.pause ? s->o.pause->call : NULL,
				     .arg = s->o.pause ? s->o.pause->arg : NULL };
	int err = reader_ask(s->o.reader, &q, a);

	s->stats.nr_hung += err == -ETIMEDOUT;
	if (says_why(s, err) && reader_tells(&s->nr_told))
		log_warn("%s: %s: its code is walked by frame pointer", src->file->path,
			 says_why(s, err));
	return err;
}

static int take_headers(struct source *src, const struct reader_answer *a)
{
	const struct headers_answer *h = a->bytes;

	if (a->sz < sizeof(*h) || h->nr_code > MAX_CODE ||
	    a->sz != sizeof(*h) + h->nr_code * sizeof(*h->code))
		return -EBADMSG;
	src->words = h->words;
	src->has_python = h->has_python;
	src->nr_code = h->nr_code;
	src->code = xcalloc(h->nr_code, sizeof(*src->code));
	memcpy(src->code, h->code, h->nr_code * sizeof(*src->code));
	return 0;
}

/* Is it for children to read? */
static bool is_strange(const struct store *s, const struct source *src)
{
	return s->o.reader && !source_is_vdso(src) && !src->file->is_system;
}

static bool is_for_child(const struct store *s, const struct source *src)
{
	return is_strange(s, src) ||
	       (s->o.reads_none && s->o.reader && !source_is_vdso(src) && src->file->fd >= 0);
}

int read_headers(struct store *s, struct source *src)
{
	struct reader_answer a;
	struct elf_file *f;
	int err;

	if (is_strange(s, src)) {
		err = src->file->fd < 0 ? -ENOENT : ask(s, src, READER_HEADERS, HEADERS_NS, &a);
		if (err)
			return err;
		err = take_headers(src, &a);
		free(a.bytes);
		return err;
	}
	f = source_open(src);
	if (!f)
		return -ENOENT;
	source_take_headers(src, f);
	elf_file_close(f);
	return 0;
}

static int take_table(struct table *t, const struct reader_answer *a)
{
	const struct table_answer *from = a->bytes;

	if (a->sz < sizeof(*from) || from->nr_words != (a->sz - sizeof(*from)) / sizeof(uint32_t))
		return -EBADMSG;
	*t = (struct table){ .nr_words = from->nr_words,
			     .arch = from->arch,
			     .first_page = from->first_page,
			     .nr_pages = from->nr_pages,
			     .exceptions = from->exceptions,
			     .nr_exceptions = from->nr_exceptions,
			     .nr_rows = from->nr_rows,
			     .nr_read = from->nr_read,
			     .nr_unsupported = from->nr_unsupported };
	t->words = xcalloc(t->nr_words, sizeof(*t->words));
	memcpy(t->words, from->words, t->nr_words * sizeof(*t->words));
	if (table_is_sound(t))
		return 0;
	table_release(t);
	return -EBADMSG;
}

int read_table(struct store *s, const struct source *src, struct table *t)
{
	struct reader_answer a;
	struct elf_file *f;
	int err;

	*t = (struct table){};
	if (is_for_child(s, src)) {
		err = ask(s, src, READER_TABLE, TABLE_NS, &a);
		if (err)
			return err;
		err = take_table(t, &a);
		free(a.bytes);
		return err;
	}
	f = source_open(src);
	if (!f)
		return -ENOENT;
	err = source_is_vdso(src) ? table_build_vdso(t, f, s->o.pause)
				  : table_build(t, f, s->o.pause);
	elf_file_close(f);
	return err;
}
