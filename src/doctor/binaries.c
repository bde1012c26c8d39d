/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of programs, by their sections, build-ids, and the lists of dpkg. */
#include "doctor/binaries.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "elf/elf_file.h"
#include "elf/section.h"
#include "symbol/debug_package.h"

static enum binary_state state_of(const struct machine *m, const struct elf_file *f)
{
	if (section_find(f, ".debug_info") || section_find(f, ".zdebug_info") ||
	    section_find(f, ".gopclntab") || section_find(f, ".data.rel.ro.gopclntab") ||
	    debug_file_is_installed(m->root, f->build_id, f->build_id_len))
		return BINARY_FULL;
	if (section_find(f, ".symtab") || section_find(f, ".gnu_debugdata"))
		return BINARY_NAMES;
	return BINARY_BARE;
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
	struct debug_package package = { .path = path };
	enum binary_state state;

	if (f) {
		state = state_of(m, f);
		if (state != BINARY_FULL)
			debug_packages_find(m->root, &package, 1);
		put(out, path, state, *package.name ? package.name : "-");
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
