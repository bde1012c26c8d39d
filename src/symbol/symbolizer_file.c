/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names by the files of profiled processes, which a copy of ourselves reads; of what was read
 * before, what is kept.
 */
#include "symbol/symbolizer_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "elf/elf_file.h"
#include "reader/fork.h"
#include "symbol/kept.h"
#include "symbol/lacking.h"

#define MAX_MORE      200000 /* questions that nobody asked: a file may claim to be all code */
#define VAIN	      16 /* of them without an answer, one behind the other: steps are doubled */
#define MAX_DOUBLINGS 12 /* to 64 kB */
#define LINES_LATE_NS 100000000 /* behind their deadline, at which whoever reads them looks */
#define LINES_HANG_NS                                                                              \
	500000000 /* the same of one file's: whoever reads them does not look any more */
#define WRITTEN	 "it was written to after it ran"
#define MAX_VAIN (VAIN * MAX_DOUBLINGS)

/* What servers take is not taken from the time for reading. */
static void open_debug_files(struct symbolizer *s, struct debug_files *d,
			     const struct elf_file *file, const char *path)
{
	uint64_t begin_ns = now_ns();

	debug_files_open(d, file, path, SYMBOL_DEBUG_DIR);
	if (!s->servers_ns)
		return;
	debug_files_fetch(d, file, s->servers_ns);
	if (s->lines)
		s->lines->deadline_ns += now_ns() - begin_ns;
}

struct job {
	struct symbolizer *symbolizer;
	struct symbol_module *module; /* without its files */
	int fd;			      /* of its file, -1 = none */
	bool described;		      /* what the file says of itself is known */
	uint8_t jit_lacks;	      /* of generated code */
	size_t more;		      /* bytes of answers besides those that were asked for */
	struct debug_files debug_files;
	struct symbol_sources sources; /* until answers are with who asked */
};

/*
 * Functions are aligned: the next place where one may begin, for who does not know. Where nothing
 * was known time and again, as in a file whose lines are asked for one by one, steps grow: an
 * answer is about all of a function, wherever in it the question was.
 */
static uint64_t next_aligned(uint64_t offset, unsigned int nr_vain)
{
	unsigned int doublings = nr_vain < MAX_VAIN ? nr_vain / VAIN : MAX_DOUBLINGS;

	return (offset | 15) + 1 + ((16ull << doublings) - 16);
}

struct more {
	struct symbol_sources *sources;
	const struct symbol_module *module;
	uint32_t nr; /* questions so far */
};

/* Functions from an offset on, up to another: false when there is no room for all. */
static bool answer_range(struct more *more, uint64_t offset, uint64_t end, struct answers *to)
{
	unsigned int nr_vain = 0;
	struct answer a;

	while (offset < end) {
		symbolizer_ask(more->sources, more->module, offset, false, &a);
		if (answers_size(&a) > to->max - to->nr || more->nr++ >= MAX_MORE)
			return false;
		if (a.found.to > offset + 1) {
			answers_put(to, &a);
			offset = a.found.to;
			nr_vain = 0;
		} else {
			offset = next_aligned(offset, nr_vain++);
		}
	}
	return true;
}

/* Those that follow each address that was asked for, as many for each. */
static void answer_neighbours(struct more *more, uint64_t end, struct answers *to)
{
	const struct symbol_module *m = more->module;
	struct answers part = *to;

	for (size_t i = 0; i < m->nr && m->addresses[i] < end; i++) {
		uint64_t next =
			i + 1 < m->nr && m->addresses[i + 1] < end ? m->addresses[i + 1] : end;

		part.max = part.nr + (to->max - part.nr) / (m->nr - i);
		answer_range(more, m->addresses[i], next, &part);
	}
	to->nr = part.nr;
}

static bool is_code(const Elf64_Phdr *s)
{
	return s->p_type == PT_LOAD && s->p_flags & PF_X;
}

/* All of the file, or what there is room for. */
static void answer_more(struct symbol_sources *sources, const struct symbol_module *m, size_t bytes,
			struct answers *to)
{
	struct more more = { sources, m, 0 };
	struct answers part = *to;

	if (bytes < to->max - to->nr)
		part.max = to->nr + bytes;
	for (size_t i = 0; i < m->file->nr_segments; i++) {
		const Elf64_Phdr *s = &m->file->segments[i];
		uint64_t end = s->p_offset + s->p_filesz;
		size_t before = part.nr;

		if (!is_code(s) || answer_range(&more, s->p_offset, end, &part))
			continue;
		part.nr = before;
		answer_neighbours(&more, end, &part);
	}
	to->nr = part.nr;
}

static void answer_all(struct job *j, struct answers *to)
{
	const struct symbol_module *m = j->module;
	struct answer a;

	symbol_sources_open(&j->sources, m);
	for (size_t i = 0; i < m->nr; i++) {
		symbolizer_ask(&j->sources, m, m->addresses[i], true, &a);
		answers_put(to, &a);
	}
	if (m->file && j->more)
		answer_more(&j->sources, m, j->more, to);
}

/* Which writes what is kept. */
static void close_sources(void *arg)
{
	struct job *j = arg;

	symbol_sources_close(&j->sources);
}

/* In the copy, which looks at the headers only before it gives up its rights. */
static void open_module(void *arg)
{
	struct job *j = arg;
	struct symbol_module *m = j->module;

	if (j->fd < 0)
		return;
	m->file = elf_file_open(j->fd);
	if (!m->file)
		return;
	open_debug_files(j->symbolizer, &j->debug_files, m->file, m->path);
	m->debug_files = &j->debug_files;
}

/* Where its code is linked to. */
static void list_linked(const struct elf_file *f, struct answers_head *head)
{
	const Elf64_Phdr *s;

	for (size_t i = 0; i < f->nr_segments && head->nr_linked < ANSWERS_MAX_LINKED; i++) {
		s = &f->segments[i];
		if (is_code(s))
			head->linked[head->nr_linked++] =
				(struct linked){ s->p_offset, s->p_filesz, s->p_vaddr, 0, 0 };
	}
}

static ssize_t answer_module(void *arg, void *bytes, size_t max)
{
	struct job *j = arg;
	const struct symbol_module *m = j->module;
	const struct symbol_lines *lines = j->symbolizer->lines;
	struct answers to = { bytes, 0, max };
	struct answers_head head = {};

	answers_begin(&to, &head);
	answer_all(j, &to);
	if (m->file && !j->described) {
		memcpy(head.build_id, m->file->build_id, sizeof(head.build_id));
		head.build_id_len = m->file->build_id_len;
		list_linked(m->file, &head);
		crate_version(m->file, head.tokio);
	}
	head.lacks = j->jit_lacks;
	if (!j->described && m->kind == FRAME_USER)
		lacking_tell(&head, m->file, &j->debug_files, j->fd >= 0);
	head.nr_late = lines ? lines->nr_late : 0;
	head.deadline_ns = lines ? lines->deadline_ns : 0;
	if (lines)
		head.missing = lines->missing;
	memcpy(bytes, &head, sizeof(head));
	return to.nr;
}

static void take_head(struct symbolizer *s, const struct answers_head *head, uint32_t module)
{
	symbolizer_describe(s, head, module);
	if (!s->lines)
		return;
	symbolizer_note_missing(s, &head->missing, module);
	s->lines->nr_late = head->nr_late;
	if (head->deadline_ns > s->lines->deadline_ns && s->servers_ns)
		s->lines->deadline_ns = head->deadline_ns;
}

/* Nobody waits for lines any more, nor for servers: only functions are read. */
static bool hurries(const struct symbolizer *s)
{
	if (s->until_ns && s->lines && now_ns() > s->until_ns + LINES_LATE_NS)
		return true;
	return s->hurry && (s->lines || s->servers_ns) && s->hurry(s->arg);
}

/* Who hurries says so once. */
static bool is_stopped(void *symbolizer)
{
	struct symbolizer *s = symbolizer;

	s->hurries |= hurries(s);
	return s->hurries || (s->lines_until_ns && now_ns() > s->lines_until_ns);
}

/*
 * Debug information may be made so that a step of libdw, which looks at no clock, takes for ever.
 * Then its lines are given up, and its functions are asked for once more. While servers may be
 * asked nobody knows when lines are begun with.
 */
static uint64_t lines_until(const struct symbolizer *s, const struct symbol_module *m)
{
	uint64_t now = now_ns();

	if (m->kind != FRAME_USER || !m->lines || s->servers_ns)
		return 0;
	return now + LINES_HANG_NS +
	       (m->lines->deadline_ns > now ? (m->lines->deadline_ns - now) / 2 : 0);
}

static void leave_out_lines(struct symbolizer *s)
{
	s->hurried = true;
	s->hurries = false;
	s->lines = NULL;
	s->servers_ns = 0;
}

/* Its bytes are others than those that ran. */
static bool is_written(const struct symbol_file *file)
{
	struct file_id now;

	if (!file_id_is_known(&file->id))
		return false;
	now = file_id_again(file->fd);
	return !file_id_has_bytes_of(&file->id, &now);
}

static void name_unknown(struct symbolizer *s, const struct symbol_module *m, size_t from,
			 size_t to)
{
	struct answer a;

	for (size_t i = from; i < to; i++) {
		a = (struct answer){ .place = symbolizer_frame(s, i)->offset };
		symbolizer_take(s, s->order[i], m, &a);
	}
	lacks_add(&s->lacks, LACK_READ, m->path, WRITTEN);
	if (reader_tells(&s->nr_told))
		log_warn("%s: no names: " WRITTEN, m->path);
}

static void keep_more(struct kept_file *kept, struct answers *answers)
{
	struct answers again = *answers;
	struct answer a;
	size_t nr = 0;

	while (answers_next(&again, &a))
		nr++;
	kept_expect(kept, nr);
	while (answers_next(answers, &a))
		kept_add(kept, a.found.from, &a);
}

static int read_once(struct symbolizer *s, struct job *j, const struct symbol_file *file,
		     struct reader_answer *got)
{
	const struct patience patience = symbolizer_patience(s, file);
	const struct reader_copy c = { .prepare = open_module,
				       .run = answer_module,
				       .arg = j,
				       .folder = s->lines ? s->lines->cache_dir : -1,
				       .timeout_ns =
					       symbolizer_time(s, j->module, patience.time_ns),
				       .idle_ns = s->servers_ns ? 0 : patience.idle_ns,
				       .stop = is_stopped,
				       .stop_arg = s,
				       .after = close_sources,
				       .late = j->module->lines ? s->late : NULL };

	s->lines_until_ns = lines_until(s, j->module);
	return symbolizer_run_copy(s, &c, j->module, file, got);
}

/* nr frames are asked for. */
static int read_file(struct symbolizer *s, struct job *j, const struct symbol_file *file, size_t nr,
		     struct reader_answer *got)
{
	int err = read_once(s, j, file, got);

	if (err == -EINTR && s->hurries)
		leave_out_lines(s);
	else if (err == -EINTR)
		s->nr_given_up += nr;
	if (s->hurried && j->module->kind == FRAME_USER)
		s->nr_hurried += nr;
	if (err != -EINTR)
		return err;
	j->module->lines = NULL;
	return read_once(s, j, file, got);
}

/* Of what is missing in the answers only the place is known. */
static void name_by_copy(struct symbolizer *s, struct symbol_module *m,
			 const struct symbol_file *file, struct kept_file *kept, size_t from,
			 size_t to)
{
	int fd = m->kind == FRAME_USER ? file->fd : -1;
	uint32_t module = symbolizer_frame(s, from)->module;
	struct job j = { .symbolizer = s,
			 .module = m,
			 .fd = fd,
			 .described = symbolizer_is_described(s->profile, module),
			 .more = kept ? kept_claim(kept) : 0 };
	struct answers_head head;
	struct reader_answer got = {};
	struct answers answers;
	bool more;
	int err;

	m->jit_lacks = &j.jit_lacks;
	err = read_file(s, &j, file, to - from, &got);
	m->jit_lacks = NULL;
	answers = (struct answers){ got.bytes, 0, got.sz };
	more = !err && answers_read(&answers, &head);
	s->nr_read++;
	if (more && fd >= 0 && is_written(file)) { /* while it was read */
		free(got.bytes);
		name_unknown(s, m, from, to);
		return;
	}
	if (more)
		take_head(s, &head, module);
	else
		symbolizer_tell_hung(s, m->path, err ? err : -EBADMSG);
	if (more && m->kind == FRAME_ANON && m->jit)
		lacking_note_map(&s->lacks, &head, m->jit);
	if (more && kept && !j.described)
		kept_set_head(kept, &head);
	for (size_t i = from; i < to; i++) {
		struct answer a = {};

		more = more && answers_next(&answers, &a);
		if (!more)
			a = (struct answer){ .place = symbolizer_frame(s, i)->offset };
		else if (kept)
			kept_add(kept, symbolizer_frame(s, i)->offset, &a);
		symbolizer_take(s, s->order[i], m, &a);
	}
	if (more && j.more)
		keep_more(kept, &answers);
	free(got.bytes);
}

/* What was answered before. The rest comes first in order from then on: its end is returned. */
static size_t name_known(struct symbolizer *s, const struct symbol_module *m,
			 const struct kept_file *kept, size_t from, size_t to)
{
	size_t left = from;
	struct answer a;

	if (!kept_head(kept))
		return to;
	take_head(s, kept_head(kept), symbolizer_frame(s, from)->module);
	for (size_t i = from; i < to; i++) {
		if (kept_find(kept, symbolizer_frame(s, i)->offset, &a))
			symbolizer_take(s, s->order[i], m, &a);
		else
			s->order[left++] = s->order[i];
	}
	s->nr_known += to - left;
	return left;
}

/* NULL: nothing may be kept of it. */
static struct kept_file *kept_of(const struct symbolizer *s, const struct symbol_file *file)
{
	struct file_id now;

	if (!s->kept || !file_id_is_known(&file->id))
		return NULL;
	now = file_id_again(file->fd);
	return file_id_is_settled(&now) ? kept_get(s->kept, &now) : NULL;
}

void symbolizer_name_file(struct symbolizer *s, struct symbol_module *m,
			  const struct symbol_file *file, uint64_t *addresses, size_t from,
			  size_t to)
{
	bool opened = m->kind == FRAME_USER && file->fd >= 0;
	struct kept_file *kept = NULL;

	if (opened && is_written(file)) {
		name_unknown(s, m, from, to);
		return;
	}
	if (opened)
		kept = kept_of(s, file);
	if (kept)
		to = name_known(s, m, kept, from, to);
	if (from == to)
		return;
	if (s->may_read && !s->may_read(s->arg)) {
		s->nr_late += to - from;
		return;
	}
	for (size_t i = from; i < to; i++)
		addresses[i - from] = symbolizer_frame(s, i)->offset;
	m->nr = to - from;
	name_by_copy(s, m, file, kept, from, to);
}
