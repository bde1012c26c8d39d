/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "python/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FIND_NS	 300000000ull
#define CODES_NS 1000000000ull

int python_do_find(struct reader_work *w)
{
	const struct python_place *place = w->question;
	struct memory m = { w->fds[0] };
	struct elf_file *f = elf_file_open(w->fds[1]), *libc = NULL;
	uint64_t vaddr;
	int err = -ENOEXEC;

	if (w->fds[2] >= 0)
		libc = elf_file_open(w->fds[2]);
	if (w->question_sz == sizeof(*place) && f && elf_file_vaddr(f, place->offset, &vaddr))
		err = python_find(w->answer, &m, f, place->address - vaddr, libc);
	w->sz = sizeof(struct python_found);
	return err;
}

static bool is_sound(const struct python_found *f)
{
	const struct python_layout *l = &f->frame;

	return f->nr_ranges <= PYTHON_MAX_RANGES && l->span < PYTHON_WORDS * 8 &&
	       l->at_shift <= 32 && l->unit_shift <= 1;
}

int python_ask_find(struct reader *r, struct python_found *found, int mem,
		    const struct python_place *place, int file, int libc)
{
	const int fds[] = { mem, file, libc };
	struct reader_question q = { .task = READER_PYTHON,
				     .bytes = place,
				     .sz = sizeof(*place),
				     .fds = fds,
				     .nr_fds = libc < 0 ? 2 : 3,
				     .timeout_ns = FIND_NS };
	struct reader_answer a;
	int err = reader_ask(r, &q, &a);

	if (err)
		return err;
	if (a.sz == sizeof(*found))
		memcpy(found, a.bytes, sizeof(*found));
	err = a.sz == sizeof(*found) && is_sound(found) ? 0 : -EBADMSG;
	free(a.bytes);
	return err;
}

struct codes_question {
	struct python_code_offsets offsets;
	uint64_t nr;
	uint64_t words[];
};

/* Of one word; behind it name and file, each with its NUL. */
struct codes_row {
	uint32_t i, line, name_sz, file_sz;
};

int python_do_codes(struct reader_work *w)
{
	const struct codes_question *q = w->question;
	struct memory m = { w->fds[0] };
	struct python_code *c;
	uint8_t *to = w->answer;
	struct codes_row row;

	if (w->question_sz < sizeof(*q) ||
	    q->nr != (w->question_sz - sizeof(*q)) / sizeof(*q->words))
		return -EINVAL;
	c = xmalloc(sizeof(*c));
	for (uint64_t i = 0; i < q->nr && w->max_sz - w->sz > sizeof(row) + sizeof(*c); i++) {
		if (!python_code_read(c, &q->offsets, &m, q->words[i]))
			continue;
		row = (struct codes_row){ i, c->line, strlen(c->name) + 1, strlen(c->file) + 1 };
		memcpy(to + w->sz, &row, sizeof(row));
		memcpy(to + w->sz + sizeof(row), c->name, row.name_sz);
		memcpy(to + w->sz + sizeof(row) + row.name_sz, c->file, row.file_sz);
		w->sz += sizeof(row) + row.name_sz + row.file_sz;
	}
	free(c);
	return 0;
}

static bool take_text(char *to, size_t room, const uint8_t **at, const uint8_t *end, uint32_t sz)
{
	if (!sz || sz > room || sz > (size_t)(end - *at) || (*at)[sz - 1])
		return false;
	memcpy(to, *at, sz);
	*at += sz;
	return true;
}

static int take_codes(const struct reader_answer *a, size_t nr,
		      void (*each)(void *arg, size_t i, const struct python_code *c), void *arg)
{
	const uint8_t *at = a->bytes, *end = at + a->sz;
	struct python_code *c = xmalloc(sizeof(*c));
	struct codes_row row;
	int err = 0;

	while (at < end && !err) {
		if ((size_t)(end - at) < sizeof(row)) {
			err = -EBADMSG;
			break;
		}
		memcpy(&row, at, sizeof(row));
		at += sizeof(row);
		c->line = row.line;
		if (row.i < nr && take_text(c->name, sizeof(c->name), &at, end, row.name_sz) &&
		    take_text(c->file, sizeof(c->file), &at, end, row.file_sz))
			each(arg, row.i, c);
		else
			err = -EBADMSG;
	}
	free(c);
	return err;
}

int python_ask_codes(struct reader *r, int mem, const struct python_code_offsets *o,
		     const uint64_t *words, size_t nr,
		     void (*each)(void *arg, size_t i, const struct python_code *c), void *arg)
{
	size_t sz = sizeof(struct codes_question) + nr * sizeof(*words);
	struct codes_question *question = xmalloc(sz);
	struct reader_question q = { .task = READER_PYTHON_CODES,
				     .bytes = question,
				     .sz = sz,
				     .fds = &mem,
				     .nr_fds = 1,
				     .timeout_ns = CODES_NS };
	struct reader_answer a;
	int err;

	question->offsets = *o;
	question->nr = nr;
	memcpy(question->words, words, nr * sizeof(*words));
	err = reader_ask(r, &q, &a);
	free(question);
	if (err)
		return err;
	err = take_codes(&a, nr, each, arg);
	free(a.bytes);
	return err;
}
