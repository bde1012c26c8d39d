/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From what people type to functions: names, patterns, addresses. Each is a pass over all names. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/regex.h"
#include "base/text.h"
#include "symbol/demangle.h"
#include "uprobe/functions_parts.h"

#define MAX_NESTED 64 /* functions that begin one inside of the other */

/* Does a function have this name? shown: as people write it, NULL where that is the same. */
typedef bool (*name_matches)(const void *pattern, const char *name, const char *shown);

/* Words that compilers and C libraries append to an implementation for some processors. */
static const char *const processors[] = { "sse2",   "sse3",    "ssse3",	 "sse4",    "avx",  "avx2",
					  "avx512", "evex",    "erms",	 "generic", "sve",  "simd",
					  "mops",   "kunpeng", "falkor", "a64fx",   "emag", "oryon",
					  "neon",   "fma",     "fma4",	 "thunderx" };
#define NR(a) (sizeof(a) / sizeof(*(a)))

struct uprobe_function function_named(const struct uprobe_function *f, const char *name)
{
	struct uprobe_function named = *f;

	named.name = name;
	return named;
}

static void show_all(struct functions *fs)
{
	if (fs->shown)
		return;
	fs->shown = xcalloc(fs->nr_names, sizeof(*fs->shown));
	for (size_t i = 0; i < fs->nr_names; i++)
		fs->shown[i] = demangle_name(fs->names[i]);
}

/* Equal but for blanks, which people set as they like: "f(int, char*)". */
static bool same_text(const char *a, const char *b)
{
	for (;;) {
		a += strspn(a, " ");
		b += strspn(b, " ");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

/* With its parameters. What a template returns precedes its name, and need not be typed. */
static bool signature_matches(const char *name, const char *shown, const char *wanted)
{
	char *signature, *part;
	bool same = false;

	if (!shown || strncmp(shown, wanted, strcspn(wanted, " (<")))
		return false;
	signature = demangle_signature(name);
	part = signature ? strstr(signature, shown) : NULL;
	same = signature && (same_text(signature, wanted) || (part && same_text(part, wanted)));
	free(signature);
	return same;
}

/* Also what a compiler has made of it, "f [clone .isra.0]"; but not the part that it put aside. */
static bool is_shown_as(const char *shown, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strncmp(shown, wanted, len) &&
	       (!shown[len] ||
		(!strncmp(shown + len, " [clone ", 8) && !strstr(shown + len, ".cold")));
}

/* Behind the arguments of a template, which begin at s. */
static const char *skip_arguments(const char *s)
{
	size_t depth = 0;

	do {
		depth += *s == '<';
		depth -= *s == '>' && s[-1] != '-';
	} while (*s++ && depth);
	return s;
}

/* "foo" of "foo<int>", "n::Box::get" of "n::Box<int>::get". In "operator<" there are none. */
static bool is_template_of(const char *shown, const char *wanted)
{
	const char *s = shown;

	while (*wanted || *s == '<') {
		bool names_it = s - shown >= 8 && !strncmp(s - 8, "operator", 8);

		if (*s == '<' && s > shown && !names_it && *wanted != '<')
			s = skip_arguments(s);
		else if (*s++ != *wanted++)
			return false;
	}
	return is_shown_as(s, "");
}

static bool matches_name(const void *pattern, const char *name, const char *shown)
{
	const char *wanted = pattern;

	return !strcmp(name, wanted) ||
	       (shown && (is_shown_as(shown, wanted) ||
			  (!strchr(wanted, '<') && is_template_of(shown, wanted)))) ||
	       (strchr(wanted, '(') && signature_matches(name, shown, wanted));
}

/* What is reached by a jump out of its function is no function of its own. */
static bool is_cold_part(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (!cold[5] || cold[5] == '.');
}

static bool matches_glob(const void *pattern, const char *name, const char *shown)
{
	return !is_cold_part(name) && (!fnmatch(pattern, name, FNM_NOESCAPE) ||
				       (shown && !fnmatch(pattern, shown, FNM_NOESCAPE)));
}

static bool matches_regex(const void *pattern, const char *name, const char *shown)
{
	return !is_cold_part(name) && (!regexec(pattern, name, 0, NULL, 0) ||
				       (shown && !regexec(pattern, shown, 0, NULL, 0)));
}

static bool matches_all(const void *pattern, const char *name, const char *shown)
{
	return !is_cold_part(name);
}

/* The best of the names that match, NULL when none does. */
static const char *function_match(const struct functions *fs, const struct uprobe_function *f,
				  name_matches matches, const void *pattern)
{
	size_t first = f->names - fs->names;
	const char *found = NULL;

	for (size_t i = first; i < first + f->nr_names; i++) {
		if (found && fs->names[i] != f->name)
			continue;
		if (matches(pattern, fs->names[i], fs->shown[i]))
			found = fs->names[i];
	}
	return found;
}

static void find_all(struct functions *fs, name_matches matches, const void *pattern,
		     struct uprobe_function **out, size_t *nr)
{
	size_t cap = 0;
	const char *name;

	show_all(fs);
	for (size_t i = 0; i < fs->nr; i++) {
		name = function_match(fs, &fs->all[i], matches, pattern);
		if (!name)
			continue;
		*out = xgrow(*out, *nr, &cap, sizeof(**out));
		(*out)[(*nr)++] = function_named(&fs->all[i], name);
	}
}

static int find_regex(struct functions *fs, const char *text, struct uprobe_function **out,
		      size_t *nr, char **why)
{
	char reason[REGEX_WHY];
	regex_t regex;

	if (!regex_compile(&regex, text, 0, reason)) {
		*why = xasprintf("'/%s/' is no regular expression: %s", text, reason);
		return -EINVAL;
	}
	find_all(fs, matches_regex, &regex, out, nr);
	regfree(&regex);
	return 0;
}

static void find_address(struct functions *fs, uint64_t address, struct uprobe_function **out,
			 size_t *nr)
{
	const struct uprobe_function *f = functions_at(fs, address);
	struct uprobe_function unnamed;

	if (!f && function_unnamed(fs, address, &unnamed))
		f = &unnamed;
	if (!f)
		return;
	*out = xcalloc(1, sizeof(**out));
	**out = *f;
	*nr = 1;
}

int functions_find(struct functions *fs, const struct uprobe_spec *spec,
		   struct uprobe_function **out, size_t *nr, char **why)
{
	*out = NULL;
	*nr = 0;
	*why = NULL;
	switch (spec->kind) {
	case UPROBE_REGEX:
		return find_regex(fs, spec->function, out, nr, why);
	case UPROBE_OFFSET:
		find_address(fs, spec->offset, out, nr);
		break;
	case UPROBE_ALL:
		find_all(fs, matches_all, NULL, out, nr);
		break;
	case UPROBE_NAME:
		find_all(fs, matches_name, spec->function, out, nr);
		break;
	case UPROBE_GLOB:
		/* "operator*" and "main.(*T).Method" are names. */
		find_all(fs, matches_name, spec->function, out, nr);
		if (!*nr)
			find_all(fs, matches_glob, spec->function, out, nr);
		break;
	case UPROBE_USDT:
		break;
	}
	return 0;
}

const struct uprobe_function *functions_at(const struct functions *fs, uint64_t address)
{
	size_t low = 0, high = fs->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (fs->all[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; i && low - i < MAX_NESTED; i--)
		if (address - fs->all[i - 1].address < fs->all[i - 1].size)
			return &fs->all[i - 1];
	return NULL;
}

const char *functions_near(struct functions *fs, const char *name)
{
	const char **candidates, *near;

	show_all(fs);
	candidates = xcalloc(fs->nr_names, sizeof(*candidates));
	for (size_t i = 0; i < fs->nr_names; i++)
		candidates[i] = fs->shown[i] ?: fs->names[i];
	near = text_nearest(name, candidates, fs->nr_names);
	free(candidates);
	return near;
}

const char *functions_shown(struct functions *fs, const struct uprobe_function *f)
{
	size_t first = f->names - fs->names;

	show_all(fs);
	for (size_t i = first; i < first + f->nr_names; i++)
		if (fs->names[i] == f->name)
			return fs->shown[i] ?: f->name;
	return f->name;
}

/* "memcpy" and "__memcpy_avx_unaligned_erms", but not "__memcpy_chk". */
static bool is_implementation(const char *name, const char *of)
{
	size_t len;

	name += strspn(name, "_");
	of += strspn(of, "_");
	len = strlen(of);
	if (!len || strncmp(name, of, len) || name[len] != '_')
		return false;
	name += len + 1;
	for (size_t i = 0; i < NR(processors); i++) {
		len = strlen(processors[i]);
		if (!strncmp(name, processors[i], len) && (!name[len] || name[len] == '_'))
			return true;
	}
	return false;
}

static const char *implementation_name(const struct uprobe_function *f,
				       const struct uprobe_function *ifunc)
{
	for (size_t i = 0; i < f->nr_names; i++)
		for (size_t j = 0; j < ifunc->nr_names; j++)
			if (is_implementation(f->names[i], ifunc->names[j]))
				return f->names[i];
	return NULL;
}

void functions_implementations(const struct functions *fs, const struct uprobe_function *ifunc,
			       struct uprobe_function **out, size_t *nr)
{
	size_t cap = 0;

	*out = NULL;
	*nr = 0;
	for (size_t i = 0; i < fs->nr; i++) {
		const struct uprobe_function *f = &fs->all[i];
		const char *name = f->is_ifunc ? NULL : implementation_name(f, ifunc);

		if (!name)
			continue;
		*out = xgrow(*out, *nr, &cap, sizeof(**out));
		(*out)[(*nr)++] = function_named(f, name);
	}
}
