/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jitdump: a header and records of {id, size, time}. Code is told by CODE_LOAD with its name, after
 * its source lines and unwinding information, which is not read: V8, whose files have it, keeps
 * frame pointers.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbol/jit_names.h"

#define MAGIC	    0x4A695444 /* "JiTD"; a file of another byte order is of another machine */
#define MAX_RECORDS (1u << 20)
#define MAX_LOADS   (1u << 20) /* that are remembered for being moved */
#define MAX_SORTS   64	       /* of what is remembered */
#define MAX_LINES   (1u << 16) /* of one piece of code */
#define CHUNK	    4096
#define WINDOW	    16384 /* a file of a million functions is not read by single records */
/*
 * V8 tells addresses of lines as they will be in the ELF file that perf makes of each piece of
 * code, behind a header of so many bytes. Code whose lines all lie behind that is of such a kind.
 */
#define ELF_HEADER 0x40

enum { CODE_LOAD = 0, CODE_MOVE = 1, CODE_DEBUG_INFO = 2, CODE_CLOSE = 3 };

struct header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t id, size; /* with this */
	uint64_t time;
};

struct load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

struct line {
	uint64_t address;
	uint32_t line, discriminator;
};

/* Code that may be moved, by its number; of several, the one told last counts. */
struct code {
	uint64_t index;
	uint32_t order;
	struct jit_name name;
};

struct dump {
	struct jit_names *names;
	int fd;
	struct code *codes; /* sorted up to nr_sorted: numbers ascend as runtimes tell them */
	size_t nr_codes, cap_codes, nr_sorted;
	uint32_t nr_sorts;
	uint64_t lines_at, lines_end, lines_of; /* the lines told last, and of which address; 0 */
	uint64_t window_at;
	size_t window_nr;
	char window[WINDOW];
};

/* What lies at an offset: sz bytes, or *nr when that is less. sz fits into the window. */
static const char *look(struct dump *d, uint64_t offset, size_t sz, size_t *nr)
{
	ssize_t got;

	if (offset < d->window_at || offset + sz > d->window_at + d->window_nr) {
		got = pread(d->fd, d->window, sizeof(d->window), offset);
		d->window_at = offset;
		d->window_nr = got > 0 ? got : 0;
	}
	*nr = d->window_at + d->window_nr - offset;
	if (*nr > sz)
		*nr = sz;
	return d->window + (offset - d->window_at);
}

static bool read_at(struct dump *d, uint64_t offset, void *buf, size_t sz)
{
	size_t nr;
	const char *s = look(d, offset, sz, &nr);

	memcpy(buf, s, nr);
	return nr == sz;
}

/* The length of a text that ends with NUL before end; 0 when it does not. */
static uint32_t text_length(struct dump *d, uint64_t offset, uint64_t end)
{
	uint64_t max = end > offset ? end - offset : 0;
	size_t nr;
	const char *s = look(d, offset, max < JIT_NAME_MAX + 1 ? max : JIT_NAME_MAX + 1, &nr);

	return strnlen(s, nr);
}

/* A line's file name follows it; "\xff" stands for that of the one before. */
struct line_reader {
	uint64_t at, end;
	struct jit_text file;
	char buf[CHUNK];
	uint64_t buf_at;
	size_t buf_nr;
};

static const char *peek(struct line_reader *r, int fd, size_t sz, size_t *nr)
{
	ssize_t got;

	if (r->at < r->buf_at || r->at + sz > r->buf_at + r->buf_nr) {
		got = pread(fd, r->buf, sizeof(r->buf), r->at);
		r->buf_at = r->at;
		r->buf_nr = got > 0 ? got : 0;
	}
	*nr = r->buf_at + r->buf_nr - r->at;
	if (*nr > r->end - r->at)
		*nr = r->end - r->at;
	return r->buf + (r->at - r->buf_at);
}

static bool next_line(struct line_reader *r, int fd, struct line *line)
{
	size_t nr, len;
	const char *s = peek(r, fd, sizeof(*line) + JIT_NAME_MAX + 1, &nr);

	if (nr <= sizeof(*line))
		return false;
	memcpy(line, s, sizeof(*line));
	len = strnlen(s + sizeof(*line), nr - sizeof(*line));
	if (len == nr - sizeof(*line)) /* no end, or longer than any */
		return false;
	if (len != 1 || s[sizeof(*line)] != '\xff')
		r->file = (struct jit_text){ r->at + sizeof(*line), len };
	r->at += sizeof(*line) + len + 1;
	return true;
}

static struct line_reader *lines_begin(const struct dump *d)
{
	struct line_reader *r = xcalloc(1, sizeof(*r));

	r->at = d->lines_at;
	r->end = d->lines_end;
	return r;
}

static uint64_t first_line(const struct dump *d)
{
	struct line_reader *r = lines_begin(d);
	uint64_t first = UINT64_MAX;
	struct line line;

	for (size_t i = 0; i < MAX_LINES && next_line(r, d->fd, &line); i++)
		if (line.address < first)
			first = line.address;
	free(r);
	return first;
}

/* Each address gets the line that begins last before it. O(lines * addresses in this code). */
static void put_lines(const struct dump *d, struct jit_name *hit, size_t nr, uint64_t code)
{
	uint64_t shift = first_line(d) - code >= ELF_HEADER ? ELF_HEADER : 0;
	const uint64_t *addresses = d->names->addresses + (hit - d->names->names);
	uint64_t *best = xcalloc(nr, sizeof(*best));
	struct line_reader *r = lines_begin(d);
	struct line line;

	for (size_t k = 0; k < MAX_LINES && next_line(r, d->fd, &line) && d->names->budget >= nr;
	     k++) {
		d->names->budget -= nr;
		line.address -= shift;
		for (size_t i = 0; i < nr; i++) {
			if (line.address < code || line.address > addresses[i] ||
			    line.address < best[i])
				continue;
			best[i] = line.address;
			hit[i].file = r->file;
			hit[i].line = line.line;
		}
	}
	free(best);
	free(r);
}

static void remember(struct dump *d, uint64_t index, const struct jit_name *name)
{
	bool follows = !d->nr_codes || d->codes[d->nr_codes - 1].index < index;

	if (d->nr_codes == MAX_LOADS)
		return;
	d->nr_sorted += d->nr_sorted == d->nr_codes && follows;
	d->codes = xgrow(d->codes, d->nr_codes, &d->cap_codes, sizeof(*d->codes));
	d->codes[d->nr_codes] = (struct code){ index, d->nr_codes, *name };
	d->nr_codes++;
}

static int by_index(const void *pa, const void *pb)
{
	const struct code *a = pa, *b = pb;

	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* NULL: there is none; or who tells numbers in disorder moves more than anybody would. */
static const struct code *find_code(struct dump *d, uint64_t index)
{
	size_t low = 0, high = d->nr_codes;

	if (d->nr_sorted != d->nr_codes) {
		if (d->nr_sorts++ == MAX_SORTS)
			return NULL;
		qsort(d->codes, d->nr_codes, sizeof(*d->codes), by_index);
		d->nr_sorted = d->nr_codes;
	}
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->codes[mid].index <= index)
			low = mid + 1;
		else
			high = mid;
	}
	return low && d->codes[low - 1].index == index ? &d->codes[low - 1] : NULL;
}

static bool take_load(struct dump *d, uint64_t at, uint64_t end)
{
	struct jit_name name = { .fd = d->fd }, *hit;
	struct load load;
	size_t nr;

	if (end - at <= sizeof(load) || !read_at(d, at, &load, sizeof(load)))
		return false;
	name.name.offset = at + sizeof(load);
	name.name.len = text_length(d, name.name.offset, end);
	hit = jit_names_in(d->names, load.address, load.size, &nr);
	for (size_t i = 0; i < nr; i++)
		hit[i] = name;
	if (nr && d->lines_of == load.address)
		put_lines(d, hit, nr, load.address);
	d->lines_of = 0;
	remember(d, load.index, &name);
	return true;
}

static void take_move(struct dump *d, uint64_t at, uint64_t end)
{
	struct move move;
	struct jit_name *hit;
	const struct code *c;
	size_t nr;

	if (end - at < sizeof(move) || !read_at(d, at, &move, sizeof(move)))
		return;
	c = find_code(d, move.index);
	if (!c)
		return;
	hit = jit_names_in(d->names, move.to, move.size, &nr);
	for (size_t i = 0; i < nr; i++)
		hit[i] = c->name;
}

static void take_lines(struct dump *d, uint64_t at, uint64_t end)
{
	uint64_t head[2]; /* address of the code, number of lines, which the size tells too */

	d->lines_of = 0;
	if (end - at < sizeof(head) || !read_at(d, at, head, sizeof(head)))
		return;
	d->lines_of = head[0];
	d->lines_at = at + sizeof(head);
	d->lines_end = end;
}

size_t jit_dump_read(struct jit_names *n, int fd)
{
	struct dump *d = xcalloc(1, sizeof(*d));
	struct header h;
	struct record r;
	size_t nr = 0;
	uint64_t at;

	d->names = n;
	d->fd = fd;
	at = n->nr && read_at(d, 0, &h, sizeof(h)) && h.magic == MAGIC && h.size >= sizeof(h)
		     ? h.size
		     : UINT64_MAX;
	for (size_t i = 0; i < MAX_RECORDS && at < JIT_FILE_MAX * 16; i++) {
		if (!read_at(d, at, &r, sizeof(r)) || r.size < sizeof(r) || r.id == CODE_CLOSE)
			break;
		if (r.id == CODE_LOAD)
			nr += take_load(d, at + sizeof(r), at + r.size);
		else if (r.id == CODE_MOVE)
			take_move(d, at + sizeof(r), at + r.size);
		else if (r.id == CODE_DEBUG_INFO)
			take_lines(d, at + sizeof(r), at + r.size);
		at += r.size;
	}
	free(d->codes);
	free(d);
	return nr;
}
