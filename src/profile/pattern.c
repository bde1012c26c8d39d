/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names without what differs between builds, and whether they are like a pattern. */
#include "profile/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What compilers hang behind a name. */
static void cut_suffixes(char *name)
{
	static const char *const suffixes[] = { ".llvm.", ".cold",	 ".part.",
						".isra.", ".constprop.", " [clone" };
	char *at;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if ((at = strstr(name, suffixes[i])))
			*at = '\0';
}

/* "::h" and 16 digits. */
static void cut_hash(char *name)
{
	size_t len = strlen(name);
	char *at = name + len - 19;

	if (len > 19 && !strncmp(at, "::h", 3) && strspn(at + 3, "0123456789abcdef") == 16)
		*at = '\0';
}

/* Parameters, which stand behind the name; "(anonymous namespace)" and Go's "(*T)" do not. */
static void cut_parameters(char *name)
{
	for (char *s = name + 1; *name && *s; s++) {
		if (*s != '(' || (!isalnum((unsigned char)s[-1]) && !strchr("_>}", s[-1])))
			continue;
		*s = '\0';
		return;
	}
}

/* The '>' that ends what s, a '<', begins; NULL when there is none. "->" ends nothing. */
static char *closing(char *s)
{
	int depth = 0;

	for (char *at = s; *at; at++) {
		depth += *at == '<';
		if (*at == '>' && at[-1] != '-' && !--depth)
			return at;
	}
	return NULL;
}

/* Of "A as T" between angles only A is kept. */
static void cut_trait(char *type)
{
	int depth = 0;

	for (; *type; type++) {
		depth += (*type == '<') - (*type == '>');
		if (!depth && !strncmp(type, " as ", 4))
			*type = '\0';
	}
}

/* "&T" and "&mut T" have the functions of T. */
static const char *without_reference(const char *type)
{
	while (*type == '&')
		type += strncmp(type, "&mut ", 5) ? 1 : 5;
	return type;
}

static void remove_bytes(char *at, size_t nr)
{
	memmove(at, at + nr, strlen(at + nr) + 1);
}

/*
 * "a::B<C>::f::<D>" to "a::B::f", and "<a::B as T>::f" to "a::B::f". Each turn takes a pair of
 * angles away, the outer one first. A name with operators in it is left as it is.
 */
static void drop_generics(char *name)
{
	char *from = name, *to, *type;

	while ((from = strchr(from, '<')) && (to = closing(from))) {
		if (from == name) {
			*to = '\0';
			type = xstrdup(without_reference(from + 1));
			cut_trait(type);
			remove_bytes(name, to + 1 - name);
			/* What was within is not longer than what it replaces. */
			memmove(name + strlen(type), name, strlen(name) + 1);
			memcpy(name, type, strlen(type));
			free(type);
			continue;
		}
		if (from - name >= 2 && !strncmp(from - 2, "::", 2))
			from -= 2;
		remove_bytes(from, to + 1 - from);
	}
}

char *pattern_normal(const char *name)
{
	char *normal = xstrdup(name);

	cut_suffixes(normal);
	cut_hash(normal);
	if (!strstr(normal, "operator"))
		drop_generics(normal);
	cut_parameters(normal);
	return normal;
}

/* Generic parameters are words like T or Fut: types of programs and libraries have paths. */
static size_t parameter_len(const char *type)
{
	size_t len = 0;

	while (isalnum((unsigned char)type[len]))
		len++;
	return isupper((unsigned char)*type) && !strncmp(type + len, " as ", 4) ? len : 0;
}

char *pattern_of_parameter(const char *name, char *normal)
{
	size_t len = *name == '<' ? parameter_len(name + 1) : 0;
	char *end = len ? closing((char *)name) : NULL, *trait, *shown;

	if (!end || strncmp(normal, name + 1, len))
		return normal;
	trait = xasprintf("%.*s", (int)(end - name - 1 - len - 4), name + 1 + len + 4);
	drop_generics(trait);
	shown = xasprintf("<%.*s as %s>%s", (int)len, name + 1, trait, normal + len);
	free(trait);
	free(normal);
	return shown;
}

static bool at_end(const char *pattern)
{
	return !*pattern || *pattern == '<';
}

bool pattern_is(const char *name, const char *pattern)
{
	const char *star = NULL, *resume = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			resume = name;
		} else if (*pattern == *name && !at_end(pattern)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return at_end(pattern);
}
