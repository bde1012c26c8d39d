/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "collect/capture_python.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "bpf/python_step.bpf.h"
#include "proc/maps.h"
#include "reader/peek.h"

#define FIRST_WAIT_NS 5000000ull /* an interpreter that has not begun is looked at again */
#define MAX_WAIT_NS   10000000000ull
#define NEVER_NS      UINT64_MAX
#define ROWS_OF_USER  (PYTHON_ROWS / 4)
#define NAMES_NS      5000000ull /* names are asked for at most so often */

/* Rows that were taken for interpreters of a user. */
static uint32_t rows_of(const struct capture_python *c, uint32_t uid)
{
	uint32_t nr = 0, highest = 0;

	for (size_t i = 0; i < c->nr; i++)
		if (c->programs[i].row > highest) {
			highest = c->programs[i].row;
			nr += c->programs[i].uid == uid;
		}
	return nr;
}

/*
 * Rows are never given back: there is one for each build of an interpreter and a C library. Since
 * 3.13 a process says itself what its layout is, so no user but root takes more than his share.
 */
static uint32_t find_row(const struct capture_python *c, const struct python_layout *layout,
			 uint32_t uid)
{
	static const struct python_layout free_row;

	for (uint32_t i = 1; i < PYTHON_ROWS; i++) {
		if (!memcmp(&c->rows[i], layout, sizeof(*layout)))
			return i;
		if (memcmp(&c->rows[i], &free_row, sizeof(free_row)))
			continue;
		if (uid && rows_of(c, uid) >= ROWS_OF_USER)
			return 0;
		c->rows[i] = *layout;
		return i;
	}
	return 0;
}

/* On aarch64 the C library says how far its data of a thread lies from the thread pointer. */
static int open_libc(struct process *p)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-musl" };
	const struct proc_mapping *m;
	const char *slash;

	for (size_t i = 0; i < p->image->nr_maps; i++) {
		m = &p->image->maps[i];
		slash = m->file ? strrchr(m->file->path, '/') : NULL;
		for (size_t k = 0; slash && k < sizeof(names) / sizeof(*names); k++)
			if (!strncmp(slash + 1, names[k], strlen(names[k]))) {
				proc_file_open(m->file, p->pid, m);
				return m->file->fd;
			}
	}
	return -1;
}

static int ask(struct capture_python *c, struct process *p, const struct proc_mapping *m,
	       struct python_found *found)
{
	/* The middle: where it begins may be in the page of another segment. */
	uint64_t in = (m->end - m->start) / 2;
	struct python_place place = { m->file_offset + in, m->start + in };
	int mem = peek_answers(c->reader, p->pid) ? memory_open(p->pid) : -ETIMEDOUT, err;

	if (mem < 0)
		return mem;
	proc_file_open(m->file, p->pid, m);
	err = m->file->fd < 0
		      ? -ENOENT
		      : python_ask_find(c->reader, found, mem, &place, m->file->fd, open_libc(p));
	close(mem);
	return err;
}

static void tell(const struct process *p, const struct proc_mapping *m, int err)
{
	if (err == -ENOTSUP)
		log_warn("%s: an interpreter of Python that is not known (3.8 to 3.14 are): its "
			 "frames are not shown",
			 m->file->path);
	else
		log_info("process %u: no frames of Python (%s)", p->pid, strerror(-err));
}

/* Each window of an agent is a recording, and the process is not asked again. */
static void note(struct capture_python *c, const struct process *p, struct proc_image *image)
{
	int err = image->python_err;
	char key[LACKS_KEY_MAX];

	if (!err || err == -ESRCH || image->python_told_ns >= c->begun_ns)
		return;
	image->python_told_ns = now_ns();
	if (err == -EACCES || err == -EPERM)
		lacks_add(c->lacks, LACK_PYTHON, lacks_key(p->pid, key), NULL);
	else
		lacks_add(c->lacks, LACK_PYTHON_OTHER, lacks_key(p->pid, key),
			  err == -ENOTSUP     ? "an interpreter that is not known (3.8 to 3.14 are)"
			  : err == -ETIMEDOUT ? "its memory cannot be read in time"
			  : err == -ENOSPC    ? "too many kinds of interpreters"
			  : err == -EPIPE     ? "the process that looked for them died"
			  : err == -ENOENT    ? "the file of the interpreter could not be read"
					      : strerror(-err));
}

static void add_program(struct capture_python *c, struct process *p, struct proc_image *image,
			const struct python_found *found)
{
	uint32_t row, uid;

	if (maps_read_owner(p->pid, &uid))
		uid = UINT32_MAX;
	row = find_row(c, &found->frame, uid);
	c->programs = xgrow(c->programs, c->nr, &c->cap, sizeof(*c->programs));
	c->programs[c->nr++] = (struct python_program){ .found = *found, .row = row, .uid = uid };
	image->python = c->nr;
	image->python_row = row;
	image->python_err = row ? 0 : -ENOSPC;
	p->changes++;
	store_refresh(c->store, p);
	log_info("process %u: Python %u.%u%s", p->pid, found->version >> 8, found->version & 0xff,
		 row ? "" : ": no room for its layout, so its frames are not followed");
}

const struct python_program *capture_python_find(struct capture_python *c, struct process *p,
						 struct proc_image *image,
						 const struct proc_mapping *m)
{
	uint64_t now = now_ns();
	struct python_found found;
	int err;

	note(c, p, image);
	if (image->python)
		return &c->programs[image->python - 1];
	if (!c->rows || !c->reader || !m->file || !m->file->has_python || image != p->image ||
	    p->exit_ns || now < image->python_next_ns)
		return NULL;
	err = ask(c, p, m, &found);
	if (!err) {
		add_program(c, p, image, &found);
		return &c->programs[image->python - 1];
	}
	image->python_wait_ns = image->python_wait_ns ? 2 * image->python_wait_ns : FIRST_WAIT_NS;
	if (image->python_wait_ns > MAX_WAIT_NS)
		image->python_wait_ns = MAX_WAIT_NS;
	image->python_next_ns = now + image->python_wait_ns;
	if (err != -EAGAIN) {
		image->python_next_ns = NEVER_NS;
		image->python_wait_ns = NEVER_NS;
		image->python_err = err;
		note(c, p, image);
		tell(p, m, err);
	}
	p->changes++; /* whether to expect one may be another answer now */
	return NULL;
}

static bool read_word(uint32_t pid, uint64_t at, void *to, size_t sz)
{
	return peek_memory(pid, at, to, sz) == (ssize_t)sz;
}

/* As bpf/python.bpf.c does it. */
static bool find_newest(const struct python_chain *c, uint64_t *frame)
{
	const struct python_layout *l = &c->layout;
	uint64_t at = c->thread + l->state;

	if (l->state_in != PYTHON_DIRECT) {
		if (!read_word(c->pid, at, &at, sizeof(at)))
			return false;
		at += l->state_in;
	}
	if (!read_word(c->pid, at, &at, sizeof(at)) || !at)
		return false;
	at += l->newest;
	if (l->newest_in != PYTHON_NONE) {
		if (!read_word(c->pid, at, &at, sizeof(at)))
			return false;
		at += l->newest_in;
	}
	return read_word(c->pid, at, frame, sizeof(*frame));
}

ssize_t capture_python_chain(const void *row, void *answer, size_t max)
{
	const struct python_chain *c = row;
	__u64 words[PYTHON_WORDS] = {};
	uint64_t frame, *to = answer;
	size_t nr = 0;

	if (max < PROF_MAX_FRAMES * sizeof(*to) || c->layout.span > sizeof(words) ||
	    !find_newest(c, &frame))
		return 0;
	while (frame && nr < PROF_MAX_FRAMES - 1 &&
	       read_word(c->pid, frame, words, c->layout.span)) {
		to[nr++] = python_word(&c->layout, words);
		frame = python_field(words, c->layout.previous);
	}
	if (!frame)
		to[nr++] = PYTHON_WHOLE;
	return nr * sizeof(*to);
}

static void take_chain(void *arg, size_t i, const void *bytes, ssize_t sz)
{
	struct defer_item *item = arg;

	if (sz <= 0 || sz > (ssize_t)(PROF_MAX_FRAMES * sizeof(*item->python)))
		return;
	item->nr_python = sz / sizeof(*item->python);
	item->python = xcalloc(PROF_MAX_FRAMES, sizeof(*item->python));
	memcpy(item->python, bytes, item->nr_python * sizeof(*item->python));
}

void capture_python_read(const struct capture_python *c, const struct python_program *program,
			 struct defer_item *item)
{
	struct python_chain row = { .pid = item->pid,
				    .thread = item->thread,
				    .layout = program->found.frame };

	if (item->nr_python)
		return;
	reader_ask_each(c->reader, READER_PYTHON_CHAIN, &row, 1, take_chain, item);
	if (!defer_is_paused(item))
		item->nr_python = 0;
}

uint32_t capture_python_frame(struct capture_python *c, uint32_t pid, uint32_t module,
			      const struct python_program *program, uint64_t word)
{
	size_t before = c->profile->nr_frames;
	uint32_t frame;

	word &= ~PYTHON_LAST_BIT;
	frame = profile_frame(c->profile, FRAME_PYTHON, module, word);
	if (c->profile->nr_frames == before)
		return frame;
	c->pending = xgrow(c->pending, c->nr_pending, &c->cap_pending, sizeof(*c->pending));
	c->pending[c->nr_pending++] =
		(struct python_pending){ frame, program - c->programs, pid, word };
	return frame;
}

struct naming {
	struct profile *profile;
	const struct python_pending *pending;
};

/* "handler (views.py)": functions of many files have the same few names. */
static void name_frame(void *arg, size_t i, const struct python_code *code)
{
	const struct naming *n = arg;
	const char *slash = strrchr(code->file, '/'), *base = slash ? slash + 1 : code->file;
	char *name = *base ? xasprintf("%s (%s)", code->name, base) : xstrdup(code->name);
	struct frame_function f = { .name = profile_string(n->profile, name),
				    .file = *base ? profile_string(n->profile, code->file) : 0,
				    .line = code->line };

	profile_set_functions(n->profile, n->pending[i].frame, &f, 1);
	free(name);
}

static int ask_names(struct capture_python *c, const struct python_pending *first, size_t nr)
{
	const struct python_program *program = &c->programs[first->program];
	uint64_t words[PYTHON_MAX_CODES];
	struct naming n = { c->profile, first };
	int mem = peek_answers(c->reader, first->pid) ? memory_open(first->pid) : -ETIMEDOUT, err;

	if (mem < 0)
		return mem;
	for (size_t i = 0; i < nr; i++)
		words[i] = first[i].word;
	err = python_ask_codes(c->reader, mem, &program->found.code, words, nr, name_frame, &n);
	close(mem);
	return err;
}

bool capture_python_name(struct capture_python *c, bool at_once)
{
	size_t to;

	if (!c->nr_pending)
		return false;
	if (!at_once && now_ns() < c->named_ns + NAMES_NS)
		return true;
	for (size_t from = 0; from < c->nr_pending; from = to) {
		const struct python_pending *first = &c->pending[from];
		struct python_program *program = &c->programs[first->program];

		for (to = from + 1; to < c->nr_pending && to - from < PYTHON_MAX_CODES &&
				    c->pending[to].pid == first->pid &&
				    c->pending[to].program == first->program;)
			to++;
		if (!program->is_mute && ask_names(c, first, to - from) == -ETIMEDOUT) {
			log_warn("process %u: its memory cannot be read: its frames of Python have "
				 "no names",
				 first->pid);
			program->is_mute = true;
		}
	}
	c->nr_pending = 0;
	c->named_ns = now_ns();
	return true;
}

void capture_python_release(struct capture_python *c)
{
	free(c->programs);
	free(c->pending);
}
