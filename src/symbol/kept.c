/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files by identity, and of each its ranges in their order. Answers lie behind each other in the
 * form that they come in (answers.h).
 */
#include "symbol/kept.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/clock.h"
#include "base/mem.h"
#include "reader/fork.h"

#define OLD_NS	  3600000000000ull
#define FILE_PART 4 /* of all memory, that one file may have */
#define GROWS_BY  8 /* its bytes by one part in so many: a file has megabytes of them */

struct span {
	uint64_t from, to;
	size_t at; /* of its answer */
};

struct kept_file {
	struct file_id id;
	struct kept *owner;
	struct answers_head head;
	bool has_head, claimed;
	struct span *spans; /* sorted, disjoint */
	size_t nr, cap;
	uint8_t *bytes;
	size_t nr_bytes, cap_bytes;
	uint64_t since_ns; /* it is read anew some time after */
	UT_hash_handle hh;
};

struct kept {
	struct kept_file *files; /* those that were asked last come last */
	size_t max_bytes;
	struct reader_left left;
};

struct kept *kept_new(size_t max_bytes)
{
	struct kept *k = xcalloc(1, sizeof(*k));

	k->max_bytes = max_bytes;
	return k;
}

static void drop(struct kept *k, struct kept_file *f)
{
	HASH_DEL(k->files, f);
	free(f->spans);
	free(f->bytes);
	free(f);
}

void kept_free(struct kept *k)
{
	struct kept_file *f, *next;

	if (!k)
		return;
	HASH_ITER (hh, k->files, f, next)
		drop(k, f);
	reader_left_release(&k->left);
	free(k);
}

struct reader_left *kept_left(struct kept *k)
{
	return &k->left;
}

/* It becomes the last one: those in front are the first to go. */
struct kept_file *kept_get(struct kept *k, const struct file_id *id)
{
	struct kept_file *f;

	if (!file_id_is_known(id))
		return NULL;
	HASH_FIND(hh, k->files, id, sizeof(*id), f);
	if (f && now_ns() > f->since_ns + OLD_NS) {
		drop(k, f);
		f = NULL;
	}
	if (f) {
		HASH_DEL(k->files, f);
	} else {
		f = xcalloc(1, sizeof(*f));
		f->id = *id;
		f->owner = k;
		f->since_ns = now_ns();
	}
	HASH_ADD(hh, k->files, id, sizeof(f->id), f);
	return f;
}

const struct answers_head *kept_head(const struct kept_file *f)
{
	return f->has_head ? &f->head : NULL;
}

void kept_set_head(struct kept_file *f, const struct answers_head *head)
{
	f->head = *head;
	f->has_head = true;
}

/* Of the first span that ends behind an offset. */
static size_t span_at(const struct kept_file *f, uint64_t offset)
{
	size_t low = 0, high = f->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (f->spans[mid].to <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool kept_find(const struct kept_file *f, uint64_t offset, struct answer *a)
{
	size_t i = span_at(f, offset);
	struct answers from = { f->bytes, 0, f->nr_bytes };

	if (i == f->nr || f->spans[i].from > offset)
		return false;
	from.nr = f->spans[i].at;
	return answers_next(&from, a);
}

static size_t bytes_of(const struct kept_file *f)
{
	return sizeof(*f) + f->cap * sizeof(*f->spans) + f->cap_bytes;
}

static size_t put_answer(struct kept_file *f, const struct answer *a)
{
	size_t at = f->nr_bytes, need = answers_size(a);
	struct answers to;

	if (at + need > f->cap_bytes) {
		f->cap_bytes = at + need + (at + need) / GROWS_BY;
		f->bytes = xreallocarray(f->bytes, f->cap_bytes, 1);
	}
	to = (struct answers){ f->bytes, at, f->cap_bytes };
	answers_put(&to, a);
	f->nr_bytes = to.nr;
	return at;
}

/* A file that is too large begins anew: what is asked for most comes back soon. */
static void empty(struct kept_file *f)
{
	free(f->spans);
	free(f->bytes);
	f->spans = NULL;
	f->bytes = NULL;
	f->nr = f->cap = f->nr_bytes = f->cap_bytes = 0;
	f->claimed = false;
}

/* What the answer claims, as far as it holds the offset, and nothing else was said of it. */
static struct span span_of(const struct kept_file *f, size_t i, uint64_t offset,
			   const struct answer *a)
{
	struct span s = { a->found.from, a->found.to, 0 };

	if (s.from > offset || s.to <= offset)
		s = (struct span){ offset, offset + 1, 0 };
	if (i && f->spans[i - 1].to > s.from)
		s.from = f->spans[i - 1].to;
	if (i < f->nr && f->spans[i].from < s.to)
		s.to = f->spans[i].from;
	return s;
}

void kept_add(struct kept_file *f, uint64_t offset, const struct answer *a)
{
	size_t i = span_at(f, offset);
	struct span s;

	if (offset == UINT64_MAX || (i < f->nr && f->spans[i].from <= offset))
		return;
	if (bytes_of(f) > f->owner->max_bytes / FILE_PART) {
		empty(f);
		i = 0;
	}
	s = span_of(f, i, offset, a);
	s.at = put_answer(f, a);
	f->spans = xgrow(f->spans, f->nr, &f->cap, sizeof(*f->spans));
	memmove(&f->spans[i + 1], &f->spans[i], (f->nr - i) * sizeof(*f->spans));
	f->spans[i] = s;
	f->nr++;
}

/* An answer has a span as well, of half its size, and there is room for some more later. */
size_t kept_claim(struct kept_file *f)
{
	size_t max = f->owner->max_bytes / FILE_PART, used = bytes_of(f);

	if (!f->has_head || f->claimed)
		return 0;
	f->claimed = true;
	return used < max ? (max - used) / 2 : 0;
}

void kept_expect(struct kept_file *f, size_t nr)
{
	if (f->nr + nr <= f->cap)
		return;
	f->cap = f->nr + nr + nr / GROWS_BY;
	f->spans = xreallocarray(f->spans, f->cap, sizeof(*f->spans));
}

size_t kept_bytes(const struct kept *k)
{
	size_t bytes = 0;

	for (const struct kept_file *f = k->files; f; f = f->hh.next)
		bytes += bytes_of(f);
	return bytes;
}

void kept_end(struct kept *k)
{
	size_t bytes = kept_bytes(k);

	while (k->files && bytes > k->max_bytes) {
		bytes -= bytes_of(k->files);
		drop(k, k->files);
	}
}
