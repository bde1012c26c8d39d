/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The child that looks for points in a file: it has no rights, and nothing but the file, its debug
 * file and the question. What it would say goes into the answer, since it cannot be trusted to talk
 * to a terminal.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "collect/points_files.h"
#include "collect/points_parts.h"

/* A question, taken apart. The strings lie in it. */
struct asked {
	const struct points_question *q;
	const uint64_t *known;
	const char *path, *shown, *text;
	struct opt_strings args;
};

static const char *next_string(const char **at, const char *end)
{
	const char *s = *at;
	size_t len = strnlen(s, end - s);

	if (s + len == end)
		return NULL;
	*at = s + len + 1;
	return s;
}

static int take_apart(struct asked *a, const struct reader_work *w)
{
	const char *end = (const char *)w->question + w->question_sz, *at;

	*a = (struct asked){ .q = w->question };
	if (w->question_sz < sizeof(*a->q) ||
	    a->q->nr_known > (w->question_sz - sizeof(*a->q)) / sizeof(*a->known))
		return -EINVAL;
	a->known = (const uint64_t *)(a->q + 1);
	at = (const char *)(a->known + a->q->nr_known);
	a->path = next_string(&at, end);
	a->shown = a->path ? next_string(&at, end) : NULL;
	a->text = a->shown ? next_string(&at, end) : NULL;
	for (size_t i = 0; a->text && i < a->q->nr_args; i++) {
		const char *word = next_string(&at, end);

		if (!word)
			return -EINVAL;
		a->args.v = xreallocarray(a->args.v, i + 1, sizeof(*a->args.v));
		a->args.v[a->args.nr++] = word;
	}
	return a->text ? 0 : -EINVAL;
}

static int look(struct points *p, struct points_file *f, const char *text)
{
	switch (f->question->what) {
	case POINTS_SPEC:
		return points_find_spec(p, f, text);
	case POINTS_ALLOCATORS:
	case POINTS_RUST:
		return alloc_find(p, f, f->question->what == POINTS_RUST);
	case POINTS_POLLS:
		return points_find_polls(p, f);
	}
	return -EINVAL;
}

static int search(struct points *p, struct points_file *f, const struct asked *a,
		  const struct reader_work *w)
{
	size_t nr_debug = 0;

	for (size_t i = 0; i < a->q->nr_known; i++)
		points_add(p, &(struct point){ .offset = a->known[i] >> 1,
					       .is_return = a->known[i] & 1 });
	while (1 + nr_debug < READER_MAX_FDS && w->fds[1 + nr_debug] >= 0)
		nr_debug++;
	f->functions = functions_open_files(w->fds[0], w->fds + 1, nr_debug);
	if (!f->functions)
		return -errno;
	f->leaving = leaving_of_file(f->functions, f->shown);
	f->told->is_stripped = functions_are_stripped(f->functions);
	return look(p, f, a->text);
}

/* Instead of an answer: the debug file is to be opened first. */
static bool wants_debug(const struct asked *a, struct reader_work *w)
{
	struct points_head h = { .wants = 1 };
	struct companion_wants *wants = (void *)((struct points_head *)w->answer + 1);

	if (!a->q->may_want || !functions_want_debug(w->fds[0], wants))
		return false;
	memcpy(w->answer, &h, sizeof(h));
	w->sz = sizeof(h) + sizeof(*wants);
	return true;
}

static int answer(const struct asked *a, struct reader_work *w)
{
	const struct points_question *q = a->q;
	const struct points_opts opts = { .args = &a->args,
					  .timed = q->timed,
					  .all = q->all,
					  .runs = q->runs,
					  .by_task = q->by_task,
					  .args_of_jumps = q->args_of_jumps,
					  .sessions = q->sessions,
					  .at_last = q->at_last,
					  .place_flags = q->place_flags };
	struct points_told told = {};
	struct points_file f = { .path = a->path, .shown = a->shown, .question = q, .told = &told };
	struct points p = { .opts = &opts };
	char *messages = NULL;
	size_t sz = 0;
	FILE *out = open_memstream(&messages, &sz);
	ssize_t len;
	int err;

	if (!out)
		return -ENOMEM;
	log_to(out);
	err = search(&p, &f, a, w);
	log_to(NULL);
	fclose(out);
	len = points_answer_put(&p, q->nr_known, &told, err, messages, w->answer, w->max_sz);
	if (len < 0)
		return (int)len;
	w->sz = len;
	return 0; /* and the end of this process */
}

int points_do_search(struct reader_work *w)
{
	struct asked a;
	int err = take_apart(&a, w);

	if (err || wants_debug(&a, w))
		return err;
	return answer(&a, w);
}

/* The question is offsets. What a probe will stand on, and what lies behind it. */
int points_do_touch(struct reader_work *w)
{
	const uint64_t *offsets = w->question;
	char bytes[16];

	for (size_t i = 0; i < w->question_sz / sizeof(*offsets); i++)
		if (pread(w->fds[0], bytes, sizeof(bytes), (off_t)offsets[i]) < 0)
			return -errno;
	return 0;
}
