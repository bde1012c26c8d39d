/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both sides of an answer: how it is put, and how it is checked. */
#include "collect/points_answer.h"

#include <errno.h>
#include <string.h>

#define MAX_REGISTER 34 /* 8 bytes each, of struct pt_regs and of user_pt_regs */
#define MAX_ERRNO    4095
#define MAX_HOW	     (1u << 16) /* bpf/alloc.h */

_Static_assert(sizeof(struct points_head) % 8 == 0, "rows behind it are aligned");
_Static_assert(sizeof(struct call_args) % 8 == 0, "so are those behind arguments");
_Static_assert(sizeof(struct points_row) % 8 == 0, "so are names behind rows");

/* --- the child's side --- */

struct writer {
	char *at, *end;
	bool is_full;
};

static void put(struct writer *w, const void *bytes, size_t sz)
{
	w->is_full |= (size_t)(w->end - w->at) < sz;
	if (w->is_full || !sz)
		return;
	memcpy(w->at, bytes, sz);
	w->at += sz;
}

/* A string's place in the text, which begins with an empty one. */
static uint32_t place(uint32_t *at, const char *s)
{
	uint32_t here = *at;

	if (!s || !*s)
		return 0;
	*at += strlen(s) + 1;
	return here;
}

static void put_string(struct writer *w, const char *s)
{
	if (s && *s)
		put(w, s, strlen(s) + 1);
}

static void put_rows(struct writer *w, const struct points *p, size_t nr_known)
{
	for (size_t i = nr_known; i < p->nr; i++) {
		const struct point *from = &p->v[i];
		const struct points_row row = { .offset = from->offset,
						.semaphore = from->semaphore,
						.event = from->event,
						.args = from->args,
						.by_probe = from->by_probe,
						.is_return = from->is_return,
						.is_dear = from->is_dear };

		put(w, &row, sizeof(row));
	}
}

static void put_names(struct writer *w, const struct points *p, uint32_t *at)
{
	for (size_t i = 0; i < p->nr_events; i++) {
		uint32_t name = place(at, p->events[i].name);

		put(w, &name, sizeof(name));
	}
}

ssize_t points_answer_put(const struct points *p, size_t nr_known, const struct points_told *told,
			  int err, const char *messages, void *to, size_t max)
{
	struct points_head h = { .err = err,
				 .nr_events = p->nr_events,
				 .nr_args = p->nr_args,
				 .nr_rows = p->nr - nr_known,
				 .is_stripped = told->is_stripped,
				 .found = told->found,
				 .nr_jobs = told->nr_jobs,
				 .nr_runs = told->nr_runs,
				 .nr_refused = told->nr_refused };
	struct writer w = { to, (char *)to + max, false };
	uint32_t at = 1;

	memcpy(h.nr_named, told->nr_named, sizeof(h.nr_named));
	memcpy(h.tokio, told->tokio, sizeof(h.tokio));
	put(&w, &h, sizeof(h));
	put(&w, p->args, p->nr_args * sizeof(*p->args));
	put_rows(&w, p, nr_known);
	h.messages = place(&at, messages);
	h.near = place(&at, told->near);
	h.refused = place(&at, told->refused);
	put_names(&w, p, &at);
	put(&w, "", 1);
	put_string(&w, messages);
	put_string(&w, told->near);
	put_string(&w, told->refused);
	for (size_t i = 0; i < p->nr_events; i++)
		put_string(&w, p->events[i].name);
	if (w.is_full)
		return -E2BIG;
	h.text_sz = at;
	memcpy(to, &h, sizeof(h));
	return w.at - (char *)to;
}

/* --- the side of who asked --- */

static bool is_head(const struct points_head *h, size_t sz)
{
	uint64_t all = sizeof(*h) + h->nr_args * (uint64_t)sizeof(struct call_args) +
		       h->nr_rows * (uint64_t)sizeof(struct points_row) +
		       h->nr_events * (uint64_t)sizeof(uint32_t) + h->text_sz;

	return h->err <= 0 && h->err >= -MAX_ERRNO && !h->wants && h->is_stripped <= 1 &&
	       h->nr_events <= CALL_MAX_EVENTS && h->nr_args <= POINTS_MAX_ROWS &&
	       h->nr_rows <= POINTS_MAX_ROWS && h->text_sz && h->text_sz <= POINTS_MAX_TEXT &&
	       h->messages < h->text_sz && h->near < h->text_sz && h->refused < h->text_sz &&
	       memchr(h->tokio, 0, sizeof(h->tokio)) && sz == all;
}

static bool is_register(uint16_t reg, bool may_lack)
{
	return reg == CALL_NO_REGISTER ? may_lack : reg < MAX_REGISTER * 8 && reg % 8 == 0;
}

/* Registers and memory of the program: what lies elsewhere is not for whoever wrote the file. */
static bool is_argument(const struct call_arg *a, enum points_what what)
{
	bool is_task = a->kind == CALL_ARG_TASK || a->kind == CALL_ARG_SPAWN;

	if (a->is_signed > 1 || a->is_string > 1 || a->is_error || a->scale > 3 || a->bytes > 8)
		return false;
	if (is_task)
		return what == POINTS_POLLS && is_register(a->reg, false) &&
		       is_register(a->index, false);
	return a->kind <= CALL_ARG_MEMORY && is_register(a->reg, true) &&
	       is_register(a->index, true);
}

static bool are_arguments(const struct call_args *a, enum points_what what)
{
	if (a->nr_args > CALL_MAX_ARGS || a->at_return >> CALL_MAX_ARGS || a->by_goroutine > 1)
		return false;
	for (size_t i = 0; i < a->nr_args; i++)
		if (!is_argument(&a->v[i], what))
			return false;
	return true;
}

static bool is_row(const struct points_row *r, const struct points_head *h, enum points_what what)
{
	bool of_alloc = what == POINTS_ALLOCATORS || what == POINTS_RUST;

	return r->offset <= INT64_MAX / 2 && r->semaphore <= INT64_MAX / 2 &&
	       (!r->semaphore || what == POINTS_SPEC) && r->event < h->nr_events &&
	       r->args < (of_alloc ? MAX_HOW : h->nr_args) && r->by_probe <= 1 &&
	       r->is_return <= 1 && r->is_dear <= 1 && !(r->by_probe && r->is_return);
}

int points_view_read(struct points_view *v, enum points_what what, const void *bytes, size_t sz)
{
	const struct points_head *h = bytes;

	if (sz < sizeof(*h) || !is_head(h, sz))
		return -EBADMSG;
	v->head = h;
	v->args = (const void *)(h + 1);
	v->rows = (const void *)(v->args + h->nr_args);
	v->names = (const void *)(v->rows + h->nr_rows);
	v->text = (const char *)(v->names + h->nr_events);
	if (v->text[0] || v->text[h->text_sz - 1])
		return -EBADMSG;
	for (size_t i = 0; i < h->nr_args; i++)
		if (!are_arguments(&v->args[i], what))
			return -EBADMSG;
	for (size_t i = 0; i < h->nr_rows; i++)
		if (!is_row(&v->rows[i], h, what))
			return -EBADMSG;
	for (size_t i = 0; i < h->nr_events; i++)
		if (v->names[i] >= h->text_sz)
			return -EBADMSG;
	return 0;
}
