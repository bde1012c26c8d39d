/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks through the places where a library or program can be, and keeps the newest that fits. */
#include "uprobe/target.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"

#define CACHE	    "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define MAX_CACHE   (16u << 20)
#define MAX_NEAR    16 /* names tried for what was mistyped */

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#define TRIPLET	    "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#define TRIPLET	    "aarch64-linux-gnu"
#endif

static const char *const directories[] = {
	"/lib/" TRIPLET, "/usr/lib/" TRIPLET, "/lib64",		"/usr/lib64",
	"/lib",		 "/usr/lib",	      "/usr/local/lib",
};
#define NR(a) (sizeof(a) / sizeof(*(a)))

/*
 * What is looked for, and the best file so far. With versions, "python3" may also be
 * libpython3.11.so.
 */
struct search {
	const char *name;
	bool versions;
	char *best;
};

/* What a mistyped name may have meant. */
struct names {
	char **v;
	size_t nr, cap;
};

/* As the cache of the dynamic linker has it: a header, entries, strings. */
struct cache_header {
	char magic[20];
	uint32_t nr_entries, strings_sz;
	uint32_t unused[5];
};
struct cache_entry {
	int32_t flags;
	uint32_t key, value; /* from the start of the file */
	uint32_t os_version;
	uint64_t hwcap;
};
_Static_assert(sizeof(struct cache_header) == 48, "as ldconfig writes it");
_Static_assert(sizeof(struct cache_entry) == 24, "as ldconfig writes it");

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What may stand behind the name: a version, then ".so" and what follows it. */
static bool is_tail(const char *s, bool needs_so, bool versions)
{
	if (versions && (*s == '-' || *s == '.') && isdigit((unsigned char)s[1])) {
		s++;
		while (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
			s++;
	}
	return (!*s && !needs_so) || !strcmp(s, ".so") || !strncmp(s, ".so.", 4);
}

static bool fits(const char *base, const char *name, bool versions)
{
	size_t len = strlen(name);

	if (!strncmp(base, name, len) && is_tail(base + len, false, versions))
		return true;
	return !strncmp(base, "lib", 3) && !strncmp(base + 3, name, len) &&
	       is_tail(base + 3 + len, true, versions);
}

bool target_is(const char *base, const char *name)
{
	return fits(base, name, true);
}

static bool is_our_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	Elf64_Ehdr h = {};
	bool ours;

	if (fd < 0)
		return false;
	ours = pread(fd, &h, sizeof(h), 0) == sizeof(h) && !memcmp(h.e_ident, ELFMAG, SELFMAG) &&
	       h.e_ident[EI_CLASS] == ELFCLASS64 && h.e_machine == OUR_MACHINE;
	close(fd);
	return ours;
}

static void search_offer(void *arg, const char *path)
{
	struct search *s = arg;

	if (!fits(base_of(path), s->name, s->versions) ||
	    (s->best && strverscmp(base_of(path), base_of(s->best)) <= 0) || !is_our_elf(path))
		return;
	free(s->best);
	s->best = xstrdup(path);
}

static void names_add(struct names *n, const char *name, size_t len)
{
	n->v = xgrow(n->v, n->nr, &n->cap, sizeof(*n->v));
	n->v[n->nr++] = xstrndup(name, len);
}

static void names_release(struct names *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->v[i]);
	free(n->v);
}

/* The nearest one that fits and is there; not to be freed. */
static const char *names_near(struct names *n, const char *name, const char *dir)
{
	for (size_t tries = 0; tries < MAX_NEAR; tries++) {
		const char *near = text_nearest(name, (const char *const *)n->v, n->nr);
		char *path = near && dir ? xasprintf("%s%s", dir, near) : NULL;
		bool fits = !path || is_our_elf(path);

		free(path);
		if (fits)
			return near;
		for (size_t i = 0; i < n->nr; i++)
			if (n->v[i] == near)
				n->v[i][0] = '\0';
	}
	return NULL;
}

static char *read_cache(size_t *sz)
{
	int fd = open(CACHE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes;
	ssize_t n;

	if (fd < 0)
		return NULL;
	bytes = xmalloc(MAX_CACHE + 1);
	n = read(fd, bytes, MAX_CACHE);
	close(fd);
	*sz = n > 0 ? n : 0;
	bytes[*sz] = '\0'; /* newer ones end in who wrote them, not in a string */
	return bytes;
}

/* Each path of it. Of an older form nothing is read: the standard directories remain. */
static void for_each_cached(void (*fn)(void *arg, const char *path), void *arg)
{
	struct cache_header h;
	struct cache_entry e;
	size_t sz, at = sizeof(h);
	char *bytes = read_cache(&sz);

	if (bytes && sz > sizeof(h) && !memcmp(bytes, CACHE_MAGIC, strlen(CACHE_MAGIC))) {
		memcpy(&h, bytes, sizeof(h));
		for (uint32_t i = 0; i < h.nr_entries && sz - at >= sizeof(e); i++) {
			memcpy(&e, bytes + at, sizeof(e));
			at += sizeof(e);
			if (e.value < sz)
				fn(arg, bytes + e.value);
		}
	}
	free(bytes);
}

static void search_directory(struct search *s, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char *path;

	while (d && (entry = readdir(d))) {
		if (!fits(entry->d_name, s->name, s->versions))
			continue;
		path = xasprintf("%s/%s", dir, entry->d_name);
		search_offer(s, path);
		free(path);
	}
	if (d)
		closedir(d);
}

static void search_libraries(struct search *s)
{
	for_each_cached(search_offer, s);
	for (size_t i = 0; i < NR(directories) && !s->best; i++)
		search_directory(s, directories[i]);
}

/* A program has just that name: "python3" is what a shell would start. */
static void search_path(struct search *s)
{
	const char *dirs = getenv("PATH") ?: "";

	for (size_t len; *dirs && !s->best; dirs += len + !!dirs[len]) {
		char *path;

		len = strcspn(dirs, ":");
		path = xasprintf("%.*s/%s", (int)len, dirs, s->name);
		if (!access(path, X_OK) && is_our_elf(path))
			s->best = xstrdup(path);
		free(path);
	}
}

bool target_is_meant(const char *mapped, const char *target)
{
	size_t have = strlen(mapped), want = strlen(target);

	if (*target == '/')
		return have >= want && !strcmp(mapped + have - want, target);
	return !strchr(target, '/') && target_is(base_of(mapped), target);
}

static void add_directory(struct names *n, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		names_add(n, entry->d_name, strlen(entry->d_name));
	if (d)
		closedir(d);
}

/* "libpython3.11.so.1.0" as people call it: libpython3, and python3 where they left that out. */
static void add_library(void *arg, const char *path)
{
	const char *base = base_of(path), *so = strstr(base, ".so"), *end = base;

	while (so && end < so && !is_tail(end, true, true))
		end++;
	if (!so || end == base)
		return;
	names_add(arg, base, end - base);
	if (end - base > 3 && !strncmp(base, "lib", 3))
		names_add(arg, base + 3, end - base - 3);
}

static char *meant(struct names *n, const char *name, const char *dir, const char *shown)
{
	char *text = text_meant(shown, names_near(n, name, dir));

	names_release(n);
	return text;
}

static char *find_path(const char *target, char **why)
{
	struct names n = {};
	int err;
	char *dir, *near;

	if (!access(target, R_OK))
		return xstrdup(target);
	err = errno;
	dir = xstrndup(target, base_of(target) - target);
	if (err == ENOENT)
		add_directory(&n, dir);
	near = meant(&n, base_of(target), dir, dir);
	*why = xasprintf("cannot open %s: %s%s", target, strerror(err), near);
	free(near);
	free(dir);
	return NULL;
}

/* Of libraries and programs. */
static char *not_there(const char *target)
{
	const char *dirs = getenv("PATH") ?: "";
	struct names n = {};
	char *near, *why;

	for_each_cached(add_library, &n);
	for (size_t len; *dirs; dirs += len + !!dirs[len]) {
		char *dir;

		len = strcspn(dirs, ":");
		dir = xstrndup(dirs, len);
		add_directory(&n, dir);
		free(dir);
	}
	near = meant(&n, target, NULL, "");
	why = xasprintf("there is no library or program '%s'%s", target,
			*near ? near : "; type its path, for example ./");
	if (!*near) {
		char *whole = xasprintf("%s%s", why, target);

		free(why);
		why = whole;
	}
	free(near);
	return why;
}

char *target_find(const char *target, char **why)
{
	struct search s = { .name = target };

	*why = NULL;
	if (strchr(target, '/'))
		return find_path(target, why);
	search_libraries(&s);
	if (!s.best)
		search_path(&s);
	if (!s.best) {
		s.versions = true;
		search_libraries(&s);
	}
	if (!s.best)
		*why = not_there(target);
	return s.best;
}
