/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lists of dpkg, line by line, and what Debian calls packages of debug symbols. */
#include "symbol/debug_package.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbol/source.h"

#define LISTS	 "/var/lib/dpkg/info/*.list"
#define LIST_MAX (8u << 20) /* of a package's files */

/* Where a number ends that text has behind a word: NULL if it has not. */
static const char *number_behind(const char *text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(text, word, len) || !isdigit((unsigned char)text[len]))
		return NULL;
	while (isdigit((unsigned char)text[len]))
		len++;
	return text + len;
}

/*
 * Packages of debug symbols are called after the package, but for some that are older than this
 * custom: of the C library, of CPython and of OpenJDK.
 */
static void name_symbols(const char *package, char *name)
{
	const char *python = strncmp(package, "lib", 3) ? package : package + 3;
	const char *end;

	if (!strcmp(package, "libc6"))
		snprintf(name, DEBUG_PACKAGE_MAX, "libc6-dbg");
	else if ((end = number_behind(python, "python3.")) && (!*end || *end == '-'))
		snprintf(name, DEBUG_PACKAGE_MAX, "%.*s-dbg", (int)(end - python), python);
	else if ((end = number_behind(package, "openjdk-")) && *end == '-')
		snprintf(name, DEBUG_PACKAGE_MAX, "%.*s-dbg", (int)(end - package), package);
	else
		snprintf(name, DEBUG_PACKAGE_MAX, "%s-dbgsym", package);
}

/* "libc6:amd64.list" is of libc6. */
static void name_by_list(const char *list, char *name)
{
	const char *base = strrchr(list, '/') + 1;
	size_t len = strcspn(base, ":");
	const char *end = strstr(base, ".list");
	char package[DEBUG_PACKAGE_MAX - 8];

	if (end && (size_t)(end - base) < len)
		len = end - base;
	if (len >= sizeof(package))
		return;
	memcpy(package, base, len);
	package[len] = '\0';
	name_symbols(package, name);
}

/* Is a line that path? Packages may say /bin where it is /usr/bin now. */
static bool is_path(const char *line, size_t len, const char *path, size_t path_len)
{
	if (len == path_len)
		return !memcmp(line, path, len);
	return len + 4 == path_len && !memcmp(path, "/usr", 4) && !memcmp(line, path + 4, len);
}

struct search {
	struct debug_package *files;
	size_t *lens; /* of their paths */
	size_t nr, nr_open;
};

static void look_at_line(struct search *s, const char *list, const char *line, size_t len)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct debug_package *f = &s->files[i];

		if (*f->name || !is_path(line, len, f->path, s->lens[i]))
			continue;
		name_by_list(list, f->name);
		s->nr_open--;
	}
}

static void look_at_list(struct search *s, const char *list, char *text)
{
	FILE *in = fopen(list, "re");
	size_t sz;

	if (!in)
		return;
	setvbuf(in, NULL, _IONBF, 0);
	sz = fread(text, 1, LIST_MAX, in);
	fclose(in);
	for (char *line = text, *end; line < text + sz; line = end + 1) {
		end = memchr(line, '\n', text + sz - line);
		if (!end)
			end = text + sz;
		look_at_line(s, list, line, end - line);
	}
}

void debug_packages_find(const char *root, struct debug_package *files, size_t nr)
{
	struct search s = { files, xcalloc(nr + 1, sizeof(*s.lens)), nr, nr };
	char *text = xmalloc(LIST_MAX), pattern[512];
	glob_t lists;

	for (size_t i = 0; i < nr; i++) {
		files[i].name[0] = '\0';
		s.lens[i] = strlen(files[i].path);
	}
	snprintf(pattern, sizeof(pattern), "%s" LISTS, root);
	if (!glob(pattern, GLOB_NOSORT, NULL, &lists)) {
		for (size_t i = 0; i < lists.gl_pathc && s.nr_open; i++)
			look_at_list(&s, lists.gl_pathv[i], text);
		globfree(&lists);
	}
	free(text);
	free(s.lens);
}

bool debug_file_is_installed(const char *root, const uint8_t *build_id, size_t len)
{
	char path[512];
	int at;

	if (len < 2)
		return false;
	at = snprintf(path, sizeof(path), "%.256s" SYMBOL_DEBUG_DIR "/.build-id/%02x/", root,
		      build_id[0]);
	for (size_t i = 1; i < len && i < 32; i++)
		at += snprintf(path + at, sizeof(path) - at, "%02x", build_id[i]);
	snprintf(path + at, sizeof(path) - at, ".debug");
	return !access(path, F_OK);
}

static bool is_there(const char *root, const char *path)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return !access(whole, F_OK);
}

bool debug_package_asks_dnf(const char *root)
{
	return (is_there(root, "/usr/lib/sysimage/rpm") || is_there(root, "/var/lib/rpm")) &&
	       is_there(root, "/usr/bin/dnf");
}
