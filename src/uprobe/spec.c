/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Takes what people type apart, from both ends. */
#include "uprobe/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define RETURN "+return"
#define USDT   "usdt:"

__attribute__((format(printf, 2, 3))) static int refuse(char **why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (vasprintf(why, fmt, args) < 0)
		abort();
	va_end(args);
	return -EINVAL;
}

static bool starts_with(const char *s, const char *head)
{
	return !strncmp(s, head, strlen(head));
}

/* The first colon that has no other one beside it: the others belong to names. */
static char *find_separator(char *s)
{
	char *c = s;

	for (; *c; c++)
		if (*c == ':' && c[1] != ':' && (c == s || c[-1] != ':'))
			return c;
	return NULL;
}

static bool is_path(const char *s)
{
	return *s == '/' || *s == '.';
}

/* "/.../" is an expression. A path never ends in a slash. */
static bool is_regex(const char *s)
{
	size_t len = strlen(s);

	return len > 2 && *s == '/' && s[len - 1] == '/';
}

/* "0xOFF" to the end of s. */
static bool parse_offset(const char *s, uint64_t *offset)
{
	char *end;

	if (strncasecmp(s, "0x", 2) || !isxdigit((unsigned char)s[2]))
		return false;
	errno = 0;
	*offset = strtoull(s, &end, 16);
	return !*end && !errno;
}

static int parse_usdt(struct uprobe_spec *s, char *text, char **why)
{
	char *name = strchr(text, ':');

	if (!name || name == text || !name[1] || strchr(name + 1, ':'))
		return refuse(why, "'usdt:%s' is no probe; type usdt:PROVIDER:NAME", text);
	if (s->is_return)
		return refuse(
			why,
			"a USDT probe is one place and has no return; type usdt:%s without " RETURN,
			text);
	s->kind = UPROBE_USDT;
	s->provider = xstrndup(text, name - text);
	s->function = xstrdup(name + 1);
	return 0;
}

/* The offset behind a name: "f+0x10". In "operator+" there is none. */
static int parse_name(struct uprobe_spec *s, char *text, char **why)
{
	char *plus = strrchr(text, '+');

	s->kind = UPROBE_NAME;
	if (plus && plus > text && starts_with(plus, "+0x")) {
		if (!parse_offset(plus + 1, &s->offset))
			return refuse(why, "'%s' is no offset; type it as in %.*s+0x1a", plus,
				      (int)(plus - text), text);
		*plus = '\0';
		if (s->offset && s->is_return)
			return refuse(why,
				      "a return is of a whole function; type %s" RETURN
				      " without the offset",
				      text);
	} else if (strpbrk(text, "*?[")) {
		s->kind = UPROBE_GLOB;
	}
	s->function = xstrdup(text);
	return 0;
}

/* What stands behind the target's colon. */
static int parse_function(struct uprobe_spec *s, char *text, char **why)
{
	if (!*text)
		return refuse(why,
			      "a function is missing behind '%s:'; type %s:FUNCTION, or %s alone "
			      "for all of its functions",
			      s->target ?: "", s->target ?: "TARGET", s->target ?: "TARGET");
	if (starts_with(text, USDT))
		return parse_usdt(s, text + strlen(USDT), why);
	if (*text == '+') {
		s->kind = UPROBE_OFFSET;
		if (s->is_return)
			return refuse(why, "an address has no return; type the function's name");
		if (!parse_offset(text + 1, &s->offset))
			return refuse(why, "'%s' is no address; type it as in +0x1a40", text);
		return 0;
	}
	if (is_regex(text)) {
		s->kind = UPROBE_REGEX;
		s->function = xstrndup(text + 1, strlen(text) - 2);
		return 0;
	}
	return parse_name(s, text, why);
}

/* A word without a target in front: of the chosen process. */
static int parse_lone(struct uprobe_spec *s, char *text, bool has_process, char **why)
{
	bool usdt = starts_with(text, USDT), empty = find_separator(text) == text;

	if (!has_process && (usdt || empty))
		return refuse(
			why,
			"'%s' is of which file? Type TARGET:%s, or choose a process with -p PID",
			text, text + empty);
	text += empty;
	if (*text == '+')
		return refuse(why, "'%s' is an address in which file? Type TARGET:%s", text, text);
	if (usdt || is_regex(text) || (has_process && !is_path(text)))
		return parse_function(s, text, why);
	s->kind = UPROBE_ALL;
	s->target = xstrdup(text);
	return 0;
}

bool uprobe_spec_is_return(const char *text)
{
	size_t len = strlen(text), tail = strlen(RETURN);

	return len >= tail && !strcmp(text + len - tail, RETURN);
}

static int parse(struct uprobe_spec *s, char *text, bool has_process, char **why)
{
	char *colon;

	s->is_return = uprobe_spec_is_return(text);
	if (s->is_return)
		text[strlen(text) - strlen(RETURN)] = '\0';
	if (!*text)
		return refuse(why,
			      "nothing to probe; type TARGET:FUNCTION, for example libc:malloc");
	colon = find_separator(text);
	if (!colon || colon == text || starts_with(text, USDT))
		return parse_lone(s, text, has_process, why);
	*colon = '\0';
	s->target = xstrdup(text);
	return parse_function(s, colon + 1, why);
}

int uprobe_spec_parse(struct uprobe_spec *s, const char *text, bool has_process, char **why)
{
	char *copy = xstrdup(text);
	int err;

	*s = (struct uprobe_spec){};
	*why = NULL;
	err = parse(s, copy, has_process, why);
	if (err)
		uprobe_spec_release(s);
	free(copy);
	return err;
}

void uprobe_spec_release(struct uprobe_spec *s)
{
	free(s->target);
	free(s->provider);
	free(s->function);
	*s = (struct uprobe_spec){};
}
