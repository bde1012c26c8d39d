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

#define CACHE	    "/etc/ld.so.cache"
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
#define MAX_CACHE   (16u << 20)

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

static void search_offer(struct search *s, const char *path)
{
	if (!fits(base_of(path), s->name, s->versions) ||
	    (s->best && strverscmp(base_of(path), base_of(s->best)) <= 0) || !is_our_elf(path))
		return;
	free(s->best);
	s->best = xstrdup(path);
}

static char *read_cache(size_t *sz)
{
	int fd = open(CACHE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *bytes;
	ssize_t n;

	if (fd < 0)
		return NULL;
	bytes = xmalloc(MAX_CACHE);
	n = read(fd, bytes, MAX_CACHE);
	close(fd);
	*sz = n > 0 ? n : 0;
	return bytes;
}

/* Of an older form nothing is read: the standard directories remain. */
static void search_cache(struct search *s)
{
	struct cache_header h;
	struct cache_entry e;
	size_t sz, at = sizeof(h);
	char *bytes = read_cache(&sz);

	if (bytes && sz > sizeof(h) && !bytes[sz - 1] &&
	    !memcmp(bytes, CACHE_MAGIC, strlen(CACHE_MAGIC))) {
		memcpy(&h, bytes, sizeof(h));
		for (uint32_t i = 0; i < h.nr_entries && sz - at >= sizeof(e); i++) {
			memcpy(&e, bytes + at, sizeof(e));
			at += sizeof(e);
			if (e.value < sz)
				search_offer(s, bytes + e.value);
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
	search_cache(s);
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

static char *find_path(const char *target, char **why)
{
	if (!access(target, R_OK))
		return xstrdup(target);
	*why = xasprintf("cannot open %s: %s", target, strerror(errno));
	return NULL;
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
		*why = xasprintf("there is no library or program '%s'; type its path, for example "
				 "./%s",
				 target, target);
	return s.best;
}
