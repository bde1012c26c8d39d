/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Questions about files of others, with a deadline, and what is made of the answers. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/points_asking.h"
#include "collect/points_parts.h"
#include "symbol/companion.h"

#define SEARCH_NS  60000000000ull /* a program of 300 MB takes 2 s */
#define IDLE_NS	   3000000000ull  /* a disk answers before */
#define FIND_NS	   3000000000ull  /* a cold disk */
#define TOUCH_NS   3000000000ull
#define TELL_NS	   1000000000ull /* from when on it is told what takes so long */
#define TURN_NS	   200000000ull
#define MOST_LINES 8192 /* of messages: with -v one for each function */

/* --- asking, and being interrupted --- */

struct progress {
	const char *path;
	uint64_t begin_ns, last_ns;
};

static void tell_progress(void *arg)
{
	struct progress *p = arg;
	uint64_t now = now_ns();

	if (now - p->begin_ns < TELL_NS || now - p->last_ns < TURN_NS)
		return;
	p->last_ns = now;
	log_progress("%s: looking for places of probes, %llu s (Ctrl-C ends)", p->path,
		     (unsigned long long)((now - p->begin_ns) / 1000000000));
}

static int tell_failed(int err, const char *path, uint64_t began_ns)
{
	char *shown = text_cleaned(path);

	if (err == -EINTR)
		log_err(0, "interrupted while %s was read: no probe is placed", shown);
	else if (err == -ETIMEDOUT && now_ns() - began_ns >= SEARCH_NS)
		log_err(0, "%s: looking into it took longer than %s: no probe is placed in it",
			shown, text_ns(SEARCH_NS));
	else if (err == -ETIMEDOUT)
		log_err(0, "%s: its file system does not answer: no probe is placed in it", shown);
	else if (err == -EPIPE)
		log_err(0, "%s: the process that looked into it died: no probe is placed in it",
			shown);
	else if (err == -EBADMSG || err == -E2BIG)
		log_err(0, "%s: what was found in it makes no sense: no probe is placed in it",
			shown);
	else
		log_err(err, "%s: cannot look into it", shown);
	free(shown);
	return err == -EINTR ? err : -EIO;
}

/*
 * With signals readable meanwhile: who interrupts us gets a sentence first, then what he would have
 * got. Not logged are errors of the file itself.
 */
int points_ask(struct reader *r, struct reader_question *q, struct reader_answer *a,
	       const char *path)
{
	struct progress progress = { path, now_ns(), 0 };
	sigset_t mask, old;
	int err;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, &old);
	q->interrupt = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (q->interrupt < 0)
		q->interrupt = 0;
	q->meanwhile = tell_progress;
	q->arg = &progress;
	err = reader_ask(r, q, a);
	log_progress(NULL);
	if (err && err != -ENOENT && err != -EACCES && err != -ENOEXEC)
		err = tell_failed(err, path, progress.begin_ns);
	if (q->interrupt)
		close(q->interrupt);
	sigprocmask(SIG_SETMASK, &old, NULL); /* a signal that came acts now */
	return err;
}

bool points_may_pass(int err)
{
	return err == -ENOEXEC || err == -ENOENT || err == -EACCES || err == -EIO;
}

/* --- the question --- */

struct text {
	char *bytes;
	size_t nr, cap;
};

static void add_bytes(struct text *t, const void *bytes, size_t sz)
{
	if (t->cap - t->nr < sz) {
		t->cap = 2 * t->cap + sz;
		t->bytes = xreallocarray(t->bytes, t->cap, 1);
	}
	memcpy(t->bytes + t->nr, bytes, sz);
	t->nr += sz;
}

static void add_string(struct text *t, const char *s)
{
	add_bytes(t, s, strlen(s) + 1);
}

static struct text question_of(const struct points *p, const struct point_file *f,
			       struct points_question *q, const char *text)
{
	const struct points_opts *o = p->opts;
	struct text t = {};

	q->nr_events = p->nr_events;
	q->nr_points = p->nr;
	q->nr_args = o->args ? o->args->nr : 0;
	q->args_of_jumps = o->args_of_jumps;
	q->place_flags = o->place_flags;
	q->timed = o->timed;
	q->all = o->all;
	q->runs = o->runs;
	q->by_task = o->by_task;
	q->sessions = o->sessions;
	q->at_last = o->at_last;
	q->nr_known = 0;
	add_bytes(&t, q, sizeof(*q));
	for (size_t i = 0; i < p->nr; i++) {
		uint64_t known = POINTS_KNOWN(p->v[i].offset, p->v[i].is_return);

		if (p->v[i].file != f)
			continue;
		q->nr_known++;
		add_bytes(&t, &known, sizeof(known));
	}
	memcpy(t.bytes, q, sizeof(*q));
	add_string(&t, f->path);
	add_string(&t, f->shown);
	add_string(&t, text);
	for (size_t i = 0; i < q->nr_args; i++)
		add_string(&t, o->args->v[i]);
	return t;
}

/* --- the answer --- */

/* As we would have said it, line by line. */
static void tell_messages(const char *text)
{
	static const char ours[] = "bpfprof: ";
	size_t len;
	char *line, *shown;

	for (int i = 0; *text && i < MOST_LINES; i++) {
		len = strcspn(text, "\n");
		line = xstrndup(text, len);
		shown = text_cleaned(
			strncmp(line, ours, sizeof(ours) - 1) ? line : line + sizeof(ours) - 1);
		log_err(0, "%s", shown);
		free(shown);
		free(line);
		text += len + !!text[len];
	}
}

static char *own_string(const struct points_view *v, uint32_t at)
{
	return at ? xstrdup(v->text + at) : NULL;
}

static void take_told(struct points_told *to, const struct points_view *v)
{
	const struct points_head *h = v->head;

	to->found = h->found;
	to->is_stripped = h->is_stripped;
	to->near = own_string(v, h->near);
	to->refused = own_string(v, h->refused);
	to->nr_jobs = h->nr_jobs;
	to->nr_runs = h->nr_runs;
	to->nr_refused = h->nr_refused;
	memcpy(to->nr_named, h->nr_named, sizeof(to->nr_named));
	memcpy(to->tokio, h->tokio, sizeof(to->tokio));
}

static void add_points(struct points *p, const struct point_file *f, enum points_what what,
		       const struct points_view *v)
{
	uint32_t first_event = p->nr_events, first_args = p->nr_args;

	for (size_t i = 0; i < v->head->nr_events; i++)
		points_add_event(p,
				 &(struct call_event){
					 .name = points_string(p, xstrdup(v->text + v->names[i])),
					 .where = what == POINTS_SPEC ? f->shown : f->path });
	for (size_t i = 0; i < v->head->nr_args; i++)
		points_add_args(p, &v->args[i]);
	for (size_t i = 0; i < v->head->nr_rows; i++) {
		const struct points_row *row = &v->rows[i];
		bool is_how = what == POINTS_ALLOCATORS || what == POINTS_RUST;

		points_add(p, &(struct point){ .kind = POINT_UPROBE,
					       .file = f,
					       .where = f->path,
					       .offset = row->offset,
					       .semaphore = row->semaphore,
					       .event = first_event + row->event,
					       .args = row->args + (is_how ? 0 : first_args),
					       .by_probe = row->by_probe,
					       .is_return = row->is_return,
					       .is_dear = row->is_dear });
	}
}

static int take_answer(struct points *p, const struct point_file *f, enum points_what what,
		       const struct reader_answer *a, struct points_told *told)
{
	struct points_view v;
	int err = points_view_read(&v, what, a->bytes, a->sz);

	if (err)
		return tell_failed(err, f->path, now_ns());
	tell_messages(v.text + v.head->messages);
	take_told(told, &v);
	if (v.head->err)
		return v.head->err;
	add_points(p, f, what, &v);
	return 0;
}

/* --- both --- */

static bool is_wish(const struct reader_answer *a)
{
	const struct points_head *h = a->bytes;

	return a->sz == sizeof(*h) + sizeof(struct companion_wants) && h->wants == 1;
}

/* -1: there is none. */
static int open_debug(struct reader *r, const struct reader_answer *wish, const char *path)
{
	const struct points_head *h = wish->bytes;
	struct reader_question q = { .task = READER_POINTS_DEBUG,
				     .bytes = h + 1,
				     .sz = sizeof(struct companion_wants),
				     .timeout_ns = FIND_NS };
	struct reader_answer a;
	int err = points_ask(r, &q, &a, path);

	if (err)
		return err == -EINTR ? err : -1;
	free(a.bytes);
	return a.fd;
}

int points_search(struct points *p, const struct point_file *f, struct points_question *asked,
		  const char *text, struct points_told *told)
{
	struct reader *r = points_reader(p);
	int fds[2] = { f->fd, -1 }, err;
	struct text t;
	struct reader_question q = {
		.task = READER_POINTS, .fds = fds, .timeout_ns = SEARCH_NS, .idle_ns = IDLE_NS
	};
	struct reader_answer a;

	*told = (struct points_told){};
	for (asked->may_want = 1;; asked->may_want = 0) {
		t = question_of(p, f, asked, text);
		q.bytes = t.bytes;
		q.sz = t.nr;
		q.nr_fds = 1 + (fds[1] >= 0);
		err = points_ask(r, &q, &a, f->path);
		free(t.bytes);
		if (err || !asked->may_want || !is_wish(&a))
			break;
		fds[1] = open_debug(r, &a, f->path);
		free(a.bytes);
		if (fds[1] == -EINTR)
			return -EINTR;
	}
	if (fds[1] >= 0)
		close(fds[1]);
	if (err)
		return err;
	err = take_answer(p, f, asked->what, &a, told);
	free(a.bytes);
	return err;
}

void points_told_release(struct points_told *told)
{
	free(told->near);
	free(told->refused);
}

/* --- before probes are placed --- */

static int check_file(struct reader *r, const struct calls_opts *o, const struct point_file *f)
{
	struct file_id now;
	struct reader_answer a;
	uint64_t *offsets;
	size_t nr = 0;
	int err;

	if (file_id_is_known(&f->id)) {
		now = file_id_again(f->fd);
		if (file_id_has_bytes_of(&f->id, &now))
			return 0;
		return log_as(-EIO,
			      "%s was written to since it was read: no probe is placed. Start "
			      "again when it is complete",
			      f->path);
	}
	offsets = xcalloc(o->nr_points, sizeof(*offsets));
	for (size_t i = 0; i < o->nr_points; i++)
		if (o->points[i].file == f)
			offsets[nr++] = o->points[i].offset;
	err = points_ask(r,
			 &(struct reader_question){ .task = READER_POINTS_TOUCH,
						    .bytes = offsets,
						    .sz = nr * sizeof(*offsets),
						    .fds = &f->fd,
						    .nr_fds = 1,
						    .timeout_ns = TOUCH_NS },
			 &a, f->path);
	free(offsets);
	if (!err)
		free(a.bytes);
	return err;
}

int points_check_files(struct reader *r, const struct calls_opts *o)
{
	const struct point_file *last = NULL;
	int err = 0;

	for (size_t i = 0; i < o->nr_points && !err; i++) {
		if (!o->points[i].file || o->points[i].file == last)
			continue;
		last = o->points[i].file;
		err = check_file(r, o, last);
	}
	return err;
}

/*
 * To place a probe, the kernel takes the lock of the mappings of each process that has the file,
 * where no signal ends it, and nobody on the machine can fork meanwhile.
 */
static int all_answer(struct reading *r)
{
	uint32_t pid = reading_find_silent(r);

	if (!pid)
		return 0;
	return log_as(-EBUSY,
		      "no probe is placed: something keeps the mappings of process %" PRIu32
		      " locked, and the kernel would wait for that, with each fork of this "
		      "machine. End that process, or what it waits for",
		      pid);
}

int points_check(struct reading *r, const struct calls_opts *o)
{
	int err = all_answer(r);

	return err ? err : points_check_files(r->reader, o);
}
