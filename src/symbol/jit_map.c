/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The perf map: "START SIZE name" a line, numbers hexadecimal, with or without 0x. */
#include <string.h>
#include <unistd.h>

#include "symbol/jit_names.h"

#define CHUNK 65536

/* The file from first to first + nr; a line that does not fit is cut. */
struct reader {
	int fd;
	char buf[CHUNK];
	uint64_t first;
	size_t nr;
	bool cut; /* what comes first is the rest of a line */
};

/* Takes a number and the blank behind it. */
static bool take_hex(const char **s, const char *end, uint64_t *number)
{
	const char *p = *s, *digits;

	*number = 0;
	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (digits = p; p < end && p - digits <= 16; p++) {
		if (*p >= '0' && *p <= '9')
			*number = *number << 4 | (*p - '0');
		else if ((*p | 32) >= 'a' && (*p | 32) <= 'f')
			*number = *number << 4 | ((*p | 32) - 'a' + 10);
		else
			break;
	}
	if (p == digits || p - digits > 16 || p == end || *p != ' ')
		return false;
	*s = p + 1;
	return true;
}

/* " /path/file.js:12:3" at the end of a name of V8's. */
static void find_place(struct jit_name *name, const char *s, size_t len)
{
	size_t end = len, line = 0, digits, i;

	for (int part = 0; part < 2; part++) {
		for (i = end, digits = 0; i && s[i - 1] >= '0' && s[i - 1] <= '9'; i--)
			digits++;
		if (!digits || digits > 9 || !i || s[i - 1] != ':')
			return;
		line = i;
		end = i - 1;
	}
	for (i = end; i && s[i - 1] != ' ';)
		i--;
	if (!i || i == end)
		return;
	name->file = (struct jit_text){ name->name.offset + i, end - i };
	for (; s[line] >= '0' && s[line] <= '9'; line++)
		name->line = name->line * 10 + (s[line] - '0');
}

/* Names with a place are those of functions: "JS:*fib /srv/w.js:2:14", "Eval: …", "Script: …". */
static bool has_place(const char *s, size_t len)
{
	return (len > 3 && !memcmp(s, "JS:", 3)) || (len > 5 && !memcmp(s, "Eval:", 5)) ||
	       (len > 7 && !memcmp(s, "Script:", 7));
}

static bool take_line(struct jit_names *n, int fd, uint64_t offset, const char *s, size_t len)
{
	struct jit_name name = { .fd = fd }, *hit;
	const char *p = s, *end = s + len;
	uint64_t start, size;
	size_t nr;

	if (!take_hex(&p, end, &start) || !take_hex(&p, end, &size) || !start || !size || p == end)
		return false;
	hit = jit_names_in(n, start, size, &nr);
	if (!nr)
		return true;
	name.name = (struct jit_text){ offset + (p - s), end - p };
	if (has_place(p, end - p))
		find_place(&name, p, end - p);
	for (size_t i = 0; i < nr; i++)
		hit[i] = name;
	return true;
}

/* Whole lines in the buffer; returns the bytes that they took. */
static size_t take_lines(struct jit_names *n, struct reader *r, size_t *nr)
{
	size_t at = 0;
	char *newline;

	while ((newline = memchr(r->buf + at, '\n', r->nr - at))) {
		size_t len = newline - (r->buf + at);

		if (!r->cut)
			*nr += take_line(n, r->fd, r->first + at, r->buf + at, len);
		r->cut = false;
		at += len + 1;
	}
	return at;
}

/* A line longer than the buffer is taken as far as it is known. */
static size_t take_long(struct jit_names *n, struct reader *r, size_t *nr)
{
	if (!r->cut)
		*nr += take_line(n, r->fd, r->first, r->buf, r->nr);
	r->cut = true;
	return r->nr;
}

size_t jit_map_read(struct jit_names *n, int fd)
{
	struct reader r = { .fd = fd };
	size_t nr = 0, took;
	ssize_t got;

	while (n->nr && r.first + r.nr < JIT_FILE_MAX) {
		got = pread(fd, r.buf + r.nr, CHUNK - r.nr, r.first + r.nr);
		if (got <= 0)
			break;
		r.nr += got;
		took = take_lines(n, &r, &nr);
		if (!took && r.nr == CHUNK)
			took = take_long(n, &r, &nr);
		memmove(r.buf, r.buf + took, r.nr - took);
		r.first += took;
		r.nr -= took;
	}
	return nr;
}
