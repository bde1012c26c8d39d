/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How large an expression becomes, and compiling those that stay small. */
#include "base/regex.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TEXT(x)	 TEXT_(x)
#define TEXT_(x) #x

static const char too_large[] =
	"with all its repetitions it has more than " TEXT(REGEX_MAX_NODES) " characters";

/* Of an expression that is read from left to right. */
struct sizes {
	const char *s;
	unsigned long sum[REGEX_MAX_DEPTH + 1]; /* of each open group so far */
	size_t depth;
	unsigned long last; /* of what a repetition here repeats; part of the sum */
};

/* Behind "[…]". Mistakes are the C library's to tell. */
static const char *skip_set(const char *s)
{
	char closes[3] = "?]";
	const char *end;

	s += s[1] == '^' ? 2 : 1;
	if (*s == ']')
		s++;
	while (*s && *s != ']') {
		if (*s == '[' && s[1] && strchr(":.=", s[1])) {
			closes[0] = s[1];
			end = strstr(s + 2, closes);
			s = end ? end + 1 : s;
		}
		s++;
	}
	return *s ? s + 1 : s;
}

static void item(struct sizes *z, const char *behind)
{
	z->s = behind;
	z->last = 1;
	z->sum[z->depth]++;
}

/* How often "{m,n}" or "{m,}" copies what it repeats. */
static unsigned long copies(const char *s)
{
	char *end;
	unsigned long least = isdigit((unsigned char)s[1]) ? strtoul(s + 1, &end, 10) : 0, most;

	if (!isdigit((unsigned char)s[1]))
		end = (char *)s + 1;
	most = *end == ',' && isdigit((unsigned char)end[1]) ? strtoul(end + 1, NULL, 10) : 0;
	most = most > least ? most : least + (*end == ',');
	return most <= REGEX_MAX_NODES ? most + !most : REGEX_MAX_NODES + 1;
}

static void repeat(struct sizes *z)
{
	unsigned long nr = *z->s == '+' ? 2 : copies(z->s);

	if (*z->s == '{')
		z->s += strcspn(z->s + 1, "}") + 1;
	z->s += *z->s != '\0';
	z->sum[z->depth] += z->last * (nr - 1);
	z->last *= nr;
}

static const char *open_group(struct sizes *z)
{
	if (z->depth == REGEX_MAX_DEPTH)
		return "more than " TEXT(REGEX_MAX_DEPTH) " groups lie in each other";
	z->sum[++z->depth] = 0;
	z->last = 0;
	z->s++;
	return NULL;
}

static void close_group(struct sizes *z)
{
	if (z->depth) {
		z->depth--;
		z->last = z->sum[z->depth + 1] + 1;
		z->sum[z->depth] += z->last;
	}
	z->s++;
}

/* NULL, or why it is not taken. */
static const char *step(struct sizes *z)
{
	switch (*z->s) {
	case '(':
		return open_group(z);
	case ')':
		close_group(z);
		return NULL;
	case '[':
		item(z, skip_set(z->s));
		return NULL;
	case '*':
	case '?':
		z->sum[z->depth]++;
		z->last++;
		z->s++;
		return NULL;
	case '+':
	case '{':
		repeat(z);
		return z->sum[z->depth] > REGEX_MAX_NODES ? too_large : NULL;
	case '\\':
		if (z->s[1] >= '1' && z->s[1] <= '9')
			return "references back (\\1) are not known here";
		item(z, z->s + 1 + (z->s[1] != '\0'));
		return NULL;
	default:
		item(z, z->s + 1);
		return NULL;
	}
}

static const char *refused(const char *text)
{
	struct sizes z = { .s = text };
	const char *why = NULL;

	if (strlen(text) > REGEX_MAX_BYTES)
		return "it is longer than " TEXT(REGEX_MAX_BYTES) " bytes";
	while (*z.s && !why) {
		why = step(&z);
		if (!why && z.sum[z.depth] > REGEX_MAX_NODES)
			why = too_large;
	}
	return why;
}

char *regex_literal(const char *text)
{
	static const char special[] = "[]{}()*+?^$|\\.";
	char *literal, *to;

	if (strlen(text) == strcspn(text, "[]{}()*+?^$|\\"))
		return NULL;
	literal = to = xcalloc(2 * strlen(text) + 1, 1);
	for (; *text; text++) {
		if (strchr(special, *text))
			*to++ = '\\';
		*to++ = *text;
	}
	return literal;
}

bool regex_compile(regex_t *re, const char *text, int flags, char why[REGEX_WHY])
{
	const char *no = refused(text);
	int err;

	if (no) {
		snprintf(why, REGEX_WHY, "%s", no);
		return false;
	}
	err = regcomp(re, text, flags | REG_EXTENDED | REG_NOSUB);
	if (err)
		regerror(err, re, why, REGEX_WHY);
	return !err;
}
