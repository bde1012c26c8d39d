/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of programs, by their sections, build-ids, and the lists of dpkg. */
#include "doctor/binaries.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "elf/section.h"
#include "symbol/source.h"

#define PACKAGES "/var/lib/dpkg/info/"
#define LIST_MAX (8u << 20) /* of a package's files */

/* Has it a file of debug symbols, by build-id? */
static bool has_debug_file(const struct machine *m, const struct elf_file *f)
{
	char path[160];
	int len;

	if (f->build_id_len < 2)
		return false;
	len = snprintf(path, sizeof(path), SYMBOL_DEBUG_DIR "/.build-id/%02x/", f->build_id[0]);
	for (size_t i = 1; i < f->build_id_len; i++)
		len += snprintf(path + len, sizeof(path) - len, "%02x", f->build_id[i]);
	snprintf(path + len, sizeof(path) - len, ".debug");
	return machine_has(m, path);
}

static enum binary_state state_of(const struct machine *m, const struct elf_file *f)
{
	if (section_find(f, ".debug_info") || section_find(f, ".zdebug_info") ||
	    section_find(f, ".gopclntab") || section_find(f, ".data.rel.ro.gopclntab") ||
	    has_debug_file(m, f))
		return BINARY_FULL;
	if (section_find(f, ".symtab") || section_find(f, ".gnu_debugdata"))
		return BINARY_NAMES;
	return BINARY_BARE;
}

/* Is a line of a package's list that path? Packages may say /bin where it is /usr/bin now. */
static bool lists(const char *list, const char *path)
{
	char line[600];

	snprintf(line, sizeof(line), "\n%s\n", path);
	if (strstr(list, line))
		return true;
	if (strncmp(path, "/usr/", 5))
		return false;
	snprintf(line, sizeof(line), "\n%s\n", path + 4);
	return strstr(list, line) != NULL;
}

static bool file_lists(const char *file, const char *path)
{
	FILE *in = fopen(file, "re");
	bool yes = false;
	size_t len;
	char *text;

	if (!in)
		return false;
	text = xmalloc(LIST_MAX + 3);
	text[0] = '\n';
	len = fread(text + 1, 1, LIST_MAX, in);
	text[len + 1] = '\n';
	text[len + 2] = '\0';
	yes = lists(text, path);
	free(text);
	fclose(in);
	return yes;
}

/* "libc6:amd64.list" is of libc6, whose debug symbols have had a name of their own for long. */
static void symbols_of(const char *file, char *package, size_t sz)
{
	const char *base = strrchr(file, '/') + 1;
	size_t len = strcspn(base, ":");
	const char *end = strstr(base, ".list");

	if (end && (size_t)(end - base) < len)
		len = end - base;
	if (len == 5 && !strncmp(base, "libc6", 5))
		snprintf(package, sz, "libc6-dbg");
	else
		snprintf(package, sz, "%.*s-dbgsym", (int)len, base);
}

static void package_of(const struct machine *m, const char *path, char *package, size_t sz)
{
	char pattern[512];
	glob_t files;

	snprintf(package, sz, "-");
	snprintf(pattern, sizeof(pattern), "%s" PACKAGES "*.list", m->root);
	if (glob(pattern, GLOB_NOSORT, NULL, &files))
		return;
	for (size_t i = 0; i < files.gl_pathc; i++)
		if (file_lists(files.gl_pathv[i], path)) {
			symbols_of(files.gl_pathv[i], package, sz);
			break;
		}
	globfree(&files);
}

static void put(FILE *out, const char *path, enum binary_state state, const char *package)
{
	const char *base = text_base_name(path);
	char *name = text_frame(base, strlen(base), 1);

	fprintf(out, "%s %d %s\n", name, state, package);
	fflush(out);
	free(name);
}

static void describe(const struct machine *m, const char *link, const char *path, FILE *out)
{
	int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elf_file *f = fd < 0 ? NULL : elf_file_open(fd);
	char package[96] = "-";
	enum binary_state state;

	if (f) {
		state = state_of(m, f);
		if (state != BINARY_FULL)
			package_of(m, path, package, sizeof(package));
		put(out, path, state, package);
	}
	elf_file_close(f);
	if (fd >= 0)
		close(fd);
}

void binaries_describe(const struct machine *m, FILE *out)
{
	char seen[MOMENT_MAX_BUSY][512];
	size_t nr = 0, k;

	for (size_t i = 0; i < m->moment.nr_busy; i++) {
		char link[512];
		ssize_t len;

		snprintf(link, sizeof(link), "%s/proc/%u/exe", m->root, m->moment.busy[i].pid);
		len = readlink(link, seen[nr], sizeof(seen[nr]) - 1);
		if (len <= 0)
			continue;
		seen[nr][len] = '\0';
		for (k = 0; k < nr && strcmp(seen[k], seen[nr]);)
			k++;
		if (k == nr)
			describe(m, link, seen[nr++], out);
	}
}
