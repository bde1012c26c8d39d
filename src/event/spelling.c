/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Taking event names apart. */
#include "event/spelling.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MAX_PRECISE 3

int spelling_refuse(char **why, int err, const char *fmt, ...)
{
	va_list ap;

	if (!why)
		return err;
	va_start(ap, fmt);
	if (vasprintf(why, fmt, ap) < 0)
		*why = xstrdup("out of memory");
	va_end(ap);
	return err;
}

static bool take_modifier(struct spelling *s, char letter)
{
	switch (letter) {
	case 'u':
		return s->user = true;
	case 'k':
		return s->kernel = true;
	case 'h':
		return s->hv = true;
	case 'p':
		return ++s->precise <= MAX_PRECISE;
	default:
		return false;
	}
}

/* What stands behind a ':' and can be no modifiers. Names of tracepoints are longer than typos. */
static bool is_tracepoint(const char *m)
{
	return m[strspn(m, "ukhp")] && (strlen(m) > 3 || strpbrk(m, "*?["));
}

static int refuse_modifiers(const struct spelling *s, const char *m, char **why)
{
	if (s->precise > MAX_PRECISE)
		return spelling_refuse(why, -EINVAL, "'%s': ':ppp' is the most precise there is",
				       s->text);
	return spelling_refuse(why, -EINVAL,
			       "'%s' of '%s' is no modifier: they are u (user), k (kernel), h "
			       "(hypervisor) and p, pp or ppp (precise)",
			       m, s->text);
}

static int parse_modifiers(struct spelling *s, const char *m, char **why)
{
	s->modifiers = *m ? xasprintf(":%s", m) : xstrdup("");
	for (const char *p = m; *p; p++)
		if (!take_modifier(s, *p))
			return refuse_modifiers(s, m, why);
	return 0;
}

static int parse_pmu(struct spelling *s, const char *slash, char **why)
{
	const char *end = strrchr(s->text, '/'), *m;

	s->pmu = xstrndup(s->text, slash - s->text);
	if (end == slash)
		return spelling_refuse(why, -EINVAL, "'%s' lacks a '/' at its end (%s/.../)",
				       s->text, s->pmu);
	s->name = xstrndup(slash + 1, end - slash - 1);
	if (strchr(s->name, '/'))
		return spelling_refuse(why, -EINVAL, "'%s' has a '/' too many", s->text);
	if (!*s->pmu || !*s->name)
		return spelling_refuse(why, -EINVAL, "'%s' names no %s (PMU/EVENT/)", s->text,
				       *s->pmu ? "event" : "PMU");
	m = end + 1;
	if (*m == ':' && !*++m)
		return spelling_refuse(why, -EINVAL, "'%s': nothing stands behind the ':'",
				       s->text);
	return parse_modifiers(s, m, why);
}

static int parse_bare(struct spelling *s, char **why)
{
	const char *colon = strchr(s->text, ':');

	s->tracepoint = colon && colon > s->text && is_tracepoint(colon + 1);
	if (s->tracepoint) {
		s->name = xstrdup(s->text);
		s->modifiers = xstrdup("");
		return 0;
	}
	s->name = colon ? xstrndup(s->text, colon - s->text) : xstrdup(s->text);
	if (!*s->name)
		return spelling_refuse(why, -EINVAL, "'%s' names no event", s->text);
	if (colon && !colon[1])
		return spelling_refuse(why, -EINVAL, "'%s': nothing stands behind the ':'",
				       s->text);
	return parse_modifiers(s, colon ? colon + 1 : "", why);
}

int spelling_parse(struct spelling *s, const char *text, char **why)
{
	size_t len;
	char *slash;

	*s = (struct spelling){};
	text += strspn(text, " \t\n");
	for (len = strlen(text); len && isspace((unsigned char)text[len - 1]);)
		len--;
	s->text = xstrndup(text, len);
	if (!len)
		return spelling_refuse(why, -EINVAL, "an event is missing: a name is empty");
	if (strpbrk(s->text, "{}"))
		return spelling_refuse(why, -EINVAL,
				       "'%s': leave the braces away; groups are made where the "
				       "hardware needs them",
				       s->text);
	slash = strchr(s->text, '/');
	return slash ? parse_pmu(s, slash, why) : parse_bare(s, why);
}

void spelling_release(struct spelling *s)
{
	free(s->text);
	free(s->pmu);
	free(s->name);
	free(s->modifiers);
	*s = (struct spelling){};
}

size_t spelling_len(const char *list)
{
	bool inside = false;
	size_t len;

	for (len = 0; list[len] && (inside || list[len] != ','); len++)
		inside ^= list[len] == '/';
	return len;
}
