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

static const char too_deep[] =
	"it repeats what is repeated already, or can be empty, more than " TEXT(
		REGEX_MAX_REPEATED) " times";

/*
 * Of a part of an expression: what it becomes; how deep repetitions lie in each other in it; and
 * how many of them repeat others, or what can be empty ("(a?){20}" are 20 of these). glibc takes
 * seconds for 20 of those, and twice as long for each further one.
 */
struct size {
	unsigned long nodes, deep;
	unsigned int nest;
	bool empty; /* it can be; of a group: a branch that has ended */
	bool solid; /* of a group: the branch that is read cannot */
};

/* Of an expression that is read from left to right. */
struct sizes {
	const char *s;
	struct size of[REGEX_MAX_DEPTH + 1]; /* each open group so far */
	size_t depth;
	struct size last; /* what a repetition here repeats; part of the group */
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

/* What stands before is not repeated any more. */
static void settle(struct sizes *z)
{
	z->of[z->depth].solid |= !z->last.empty;
}

static void item(struct sizes *z, const char *behind, bool empty)
{
	settle(z);
	z->s = behind;
	z->last = (struct size){ .nodes = 1, .empty = empty };
	z->of[z->depth].nodes++;
}

static void end_branch(struct sizes *z)
{
	struct size *in = &z->of[z->depth];

	settle(z);
	in->empty |= !in->solid;
	in->solid = false;
	z->last = (struct size){ .empty = true };
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

/* What stands before is repeated: nr copies of it, and one node more for a mark. */
static void repeat(struct sizes *z, unsigned long nr, bool mark)
{
	struct size *in = &z->of[z->depth], was = z->last;
	bool exact = *z->s == '{' && z->s[1] != '0' && z->s[1] != ',';
	bool none = *z->s == '*' || *z->s == '?' || (*z->s == '{' && !exact);

	if (*z->s == '{')
		z->s += strcspn(z->s + 1, "}") + 1;
	z->s += *z->s != '\0';
	z->last.nodes = was.nodes * nr + mark;
	z->last.nest += !exact; /* copies in a row do not lie in each other */
	z->last.deep = was.deep * nr + (was.empty ? nr : !exact && z->last.nest > 1);
	z->last.empty |= none;
	in->nodes += z->last.nodes - was.nodes;
	in->deep += z->last.deep - was.deep;
	in->nest = in->nest > z->last.nest ? in->nest : z->last.nest;
}

static const char *open_group(struct sizes *z)
{
	if (z->depth == REGEX_MAX_DEPTH)
		return "more than " TEXT(REGEX_MAX_DEPTH) " groups lie in each other";
	settle(z);
	z->of[++z->depth] = (struct size){};
	z->last = (struct size){ .empty = true };
	z->s++;
	return NULL;
}

static void close_group(struct sizes *z)
{
	struct size *in;

	z->s++;
	if (!z->depth)
		return;
	end_branch(z);
	z->last = z->of[z->depth--];
	z->last.nodes++;
	in = &z->of[z->depth];
	in->nodes += z->last.nodes;
	in->deep += z->last.deep;
	in->nest = in->nest > z->last.nest ? in->nest : z->last.nest;
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
		item(z, skip_set(z->s), false);
		return NULL;
	case '*':
	case '?':
		repeat(z, 1, true);
		return NULL;
	case '+':
		repeat(z, 2, false);
		return NULL;
	case '{':
		repeat(z, copies(z->s), false);
		return NULL;
	case '\\':
		if (z->s[1] >= '1' && z->s[1] <= '9')
			return "references back (\\1) are not known here";
		item(z, z->s + 1 + (z->s[1] != '\0'), z->s[1] && strchr("bB<>`'", z->s[1]));
		return NULL;
	case '|':
		item(z, z->s + 1, true);
		end_branch(z);
		return NULL;
	case '^':
	case '$':
		item(z, z->s + 1, true);
		return NULL;
	default:
		item(z, z->s + 1, false);
		return NULL;
	}
}

static const char *refused(const char *text)
{
	struct sizes z = { .s = text, .last.empty = true };
	const char *why = NULL;

	if (strlen(text) > REGEX_MAX_BYTES)
		return "it is longer than " TEXT(REGEX_MAX_BYTES) " bytes";
	while (*z.s && !why) {
		why = step(&z);
		if (!why && z.of[z.depth].nodes > REGEX_MAX_NODES)
			why = too_large;
		if (!why && z.of[z.depth].deep > REGEX_MAX_REPEATED)
			why = too_deep;
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
