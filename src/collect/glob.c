/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pattern list becomes one automaton of at most 64 positions, one bit each. Position i is live
 * when the bytes read so far match all elements before i. An element that is a byte or a class
 * advances to i + 1; '*' stays, and may be skipped at once. A position behind the last element of a
 * pattern advances on nothing: it is accepted if live at the end.
 */
#include "collect/glob.h"

#include <errno.h>
#include <string.h>

static void allow(struct prof_glob *g, unsigned int at, unsigned char from, unsigned char to)
{
	for (unsigned int c = from; c <= to; c++)
		g->step[c] |= 1ull << at;
}

/* "[...]": returns what follows it, NULL when it does not end. */
static const char *compile_class(struct prof_glob *g, unsigned int at, const char *p)
{
	bool negate = *p == '!' || *p == '^', first = true;
	uint64_t bit = 1ull << at;

	p += negate;
	for (; *p && (first || *p != ']'); first = false) {
		unsigned char from = *p++, to = from;

		if (*p == '-' && p[1] && p[1] != ']') {
			to = p[1];
			p += 2;
		}
		allow(g, at, from, to);
	}
	if (*p != ']')
		return NULL;
	for (unsigned int c = 1; negate && c < 256; c++)
		g->step[c] ^= bit;
	return p + 1;
}

/*
 * One element at position at; returns what follows, NULL on a bad class. '*' sets only the star
 * bit.
 */
static const char *compile_element(struct prof_glob *g, unsigned int at, const char *p)
{
	switch (*p) {
	case '*':
		g->star |= 1ull << at;
		return p + 1;
	case '?':
		allow(g, at, 1, 255);
		return p + 1;
	case '[':
		return compile_class(g, at, p + 1);
	case '\\':
		p += p[1] != '\0';
		/* fallthrough */
	default:
		allow(g, at, *p, *p);
		return p + 1;
	}
}

int glob_compile(struct prof_glob *g, const char *list)
{
	unsigned int at = 0, first;

	memset(g, 0, sizeof(*g));
	for (const char *p = list;; p++) {
		first = at;
		if (!*p || *p == ',')
			return -ENOENT;
		for (; *p && *p != ','; at++) {
			if (at >= 63)
				return -E2BIG;
			p = compile_element(g, at, p);
			if (!p)
				return -EINVAL;
			while (p[-1] == '*' && (g->star >> at & 1) && *p == '*')
				p++;
		}
		if (at > 63)
			return -E2BIG;
		g->start |= 1ull << first;
		if (g->star >> first & 1)
			g->start |= 1ull << (first + 1);
		g->accept |= 1ull << at++;
		if (!*p)
			return 0;
	}
}
