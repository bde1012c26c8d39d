/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fixed parts are copied, strings have their NUL with them. */
#include "symbol/answers.h"

#include <string.h>

#define NO_STRING UINT32_MAX

struct fixed {
	uint64_t place, from, to;
	uint32_t nr;
	uint32_t is_entry;
};

struct function {
	uint32_t line, begin, name, file; /* lengths with NUL, NO_STRING = NULL */
};

static uint32_t length_of(const char *s)
{
	return s ? strlen(s) + 1 : NO_STRING;
}

static void put(struct answers *a, const void *bytes, size_t nr)
{
	memcpy(a->bytes + a->nr, bytes, nr);
	a->nr += nr;
}

size_t answers_size(const struct answer *one)
{
	size_t sz = sizeof(struct fixed);

	for (size_t i = 0; i < one->found.nr; i++) {
		sz += sizeof(struct function);
		sz += one->found.chain[i].name ? strlen(one->found.chain[i].name) + 1 : 0;
		sz += one->found.chain[i].file ? strlen(one->found.chain[i].file) + 1 : 0;
	}
	return sz;
}

void answers_begin(struct answers *a, const struct answers_head *head)
{
	a->nr = 0;
	if (a->max >= sizeof(*head))
		put(a, head, sizeof(*head));
}

void answers_put(struct answers *a, const struct answer *one)
{
	struct fixed fixed = { one->place, one->found.from, one->found.to, one->found.nr,
			       one->is_entry };

	if (answers_size(one) > a->max - a->nr) {
		a->max = a->nr; /* nothing that follows may take its place */
		return;
	}
	put(a, &fixed, sizeof(fixed));
	for (size_t i = 0; i < one->found.nr; i++) {
		const struct symbol_function *f = &one->found.chain[i];
		struct function head = { f->line, f->begin, length_of(f->name),
					 length_of(f->file) };

		put(a, &head, sizeof(head));
		if (f->name)
			put(a, f->name, head.name);
		if (f->file)
			put(a, f->file, head.file);
	}
}

static bool get(struct answers *a, void *to, size_t nr)
{
	if (nr > a->max - a->nr)
		return false;
	memcpy(to, a->bytes + a->nr, nr);
	a->nr += nr;
	return true;
}

static bool get_string(struct answers *a, uint32_t len, const char **s)
{
	*s = NULL;
	if (len == NO_STRING)
		return true;
	if (!len || len > a->max - a->nr || a->bytes[a->nr + len - 1])
		return false;
	*s = (const char *)a->bytes + a->nr;
	a->nr += len;
	return strlen(*s) == len - 1;
}

bool answers_read(struct answers *a, struct answers_head *head)
{
	a->nr = 0;
	return get(a, head, sizeof(*head)) && head->build_id_len <= sizeof(head->build_id) &&
	       memchr(head->tokio, '\0', sizeof(head->tokio)) &&
	       memchr(head->link, '\0', sizeof(head->link)) &&
	       memchr(head->missing.alt, '\0', sizeof(head->missing.alt)) &&
	       memchr(head->missing.dwo, '\0', sizeof(head->missing.dwo));
}

bool answers_next(struct answers *a, struct answer *one)
{
	struct fixed fixed;
	struct function f;

	*one = (struct answer){};
	if (!get(a, &fixed, sizeof(fixed)) || fixed.nr > FRAME_MAX_FUNCTIONS)
		return false;
	one->place = fixed.place;
	one->found.from = fixed.from;
	one->found.to = fixed.to;
	one->is_entry = fixed.is_entry;
	for (; one->found.nr < fixed.nr; one->found.nr++) {
		struct symbol_function *to = &one->found.chain[one->found.nr];

		if (!get(a, &f, sizeof(f)) || !get_string(a, f.name, &to->name) || !to->name ||
		    !get_string(a, f.file, &to->file))
			return false;
		to->line = f.line;
		to->begin = f.begin;
	}
	return true;
}
