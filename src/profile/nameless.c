/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sum for each module, and the rows of those that have any. */
#include "profile/nameless.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/missing.h"
#include "profile/runtime.h"

#define OF_FILE                                                                                    \
	"stripped: install its debug symbols (a package -dbgsym, -dbg or -debuginfo), "            \
	"or --debuginfod"
#define OF_DEBIAN    "stripped: apt install %.*s%s, or --debuginfod"
#define OF_FEDORA    "stripped: dnf debuginfo-install $(rpm -qf %s), or --debuginfod"
#define OF_INSTALLED "its debug file is installed, and has no names for this code"
#define OF_OWN_FILE                                                                                \
	"stripped: build it without strip and -s, or let --debuginfod find its debug file"
#define OF_MAPPED                                                                                  \
	"code that is not among the names which its runtime wrote: replaced before, or newer"
#define OF_INLINED                                                                                 \
	"calls that the compiler put into others, whose names are in a file that is missing"
#define OF_NOTHING "gone before its mappings were read: let bpfprof start the program, behind --"

static bool is_inlined(const struct profile *p, uint32_t frame)
{
	return profile_frame_functions(p, frame) > 1 &&
	       !strcmp(profile_str(p, profile_frame_function(p, frame, 0).name), PROFILE_INLINED);
}

bool nameless_frame(const struct profile *p, uint32_t frame)
{
	const struct frame *f = profile_frame_at(p, frame);
	const char *name = profile_frame_name(p, frame);

	if (f->kind == FRAME_ANON)
		return !strcmp(name, PROFILE_JIT);
	if (f->kind == FRAME_PYTHON)
		return !strcmp(name, PROFILE_PYTHON);
	if (f->kind == FRAME_USER) /* "[libz.so.1+0x2340]" is what the symbolizer makes up */
		return is_inlined(p, frame) ||
		       (name[0] == '[' && !f->linkage && strstr(name, "+0x") &&
			name[strlen(name) - 1] == ']');
	return f->kind == FRAME_UNKNOWN;
}

/* Where packages of distributions put their files; for others there is no package of symbols. */
static bool is_packaged(const char *path)
{
	static const char *const folders[] = { "/usr/", "/lib", "/bin/", "/sbin/" };

	if (!strncmp(path, "/usr/local/", 11))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])))
			return true;
	return false;
}

/* Of names of packages, and of paths that a shell takes as they are. */
static bool is_plain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && !strchr("/._+-", s[i]))
			return false;
	return len;
}

/* The rest of the line of that file, and how long it is. */
static const char *found_of(const struct profile *p, const char *path, size_t *len)
{
	const char *line = profile_str(p, p->meta.debug_packages);
	size_t path_len = strlen(path);

	for (; *line; line += *len + (line[*len] == '\n')) {
		*len = strcspn(line, "\n");
		if (*len > path_len && !strncmp(line, path, path_len) && line[path_len] == ' ') {
			*len -= path_len + 1;
			return line + path_len + 1;
		}
	}
	return NULL;
}

static char *remedy_of_package(const struct profile *p, const char *path)
{
	static const char elsewhere[] = "-dbgsym";
	const size_t end = sizeof(elsewhere) - 1;
	const char *found;
	size_t len;

	found = is_plain(path, strlen(path)) ? found_of(p, path, &len) : NULL;
	if (!found)
		return xstrdup(OF_FILE);
	if (len == 1 && *found == *NAMELESS_INSTALLED)
		return xstrdup(OF_INSTALLED);
	if (len == 1 && *found == *NAMELESS_OF_RPM)
		return xasprintf(OF_FEDORA, path);
	if (!is_plain(found, len))
		return xstrdup(OF_FILE);
	return xasprintf(OF_DEBIAN, (int)len, found,
			 len > end && !strncmp(found + len - end, elsewhere, end)
				 ? " (archive debian-debug; of Ubuntu, ddebs)"
				 : "");
}

static char *remedy_of(const struct profile *p, const struct nameless_row *row)
{
	const struct module *m = &p->modules[row->module];

	if (!row->module)
		return xstrdup(OF_NOTHING);
	if (row->is_inlined)
		return xstrdup(OF_INLINED);
	if (m->kind == MODULE_GENERATED && row->is_mapped)
		return xstrdup(OF_MAPPED);
	if (m->kind == MODULE_GENERATED)
		return xstrdup(runtime_of(p, row->process)->named);
	return row->is_packaged ? remedy_of_package(p, profile_str(p, m->path))
				: xstrdup(OF_OWN_FILE);
}

static int by_weight(const void *x, const void *y)
{
	const struct nameless_row *a = x, *b = y;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->module < b->module ? -1 : a->module > b->module;
}

void nameless_init(struct nameless *n, const struct profile *p)
{
	struct nameless_row *rows = xcalloc(p->nr_modules, sizeof(*rows));
	const struct sample *s;
	uint32_t leaf, module;

	*n = (struct nameless){ .rows = rows };
	for (size_t i = 0; i < p->nr_samples; i++) {
		s = &p->samples[i];
		leaf = profile_stack_leaf(p, s->ustack);
		if (!leaf)
			continue;
		n->all += s->weight;
		if (profile_frame_functions(p, leaf) > 1)
			n->inlined += s->weight;
		module = profile_frame_at(p, leaf)->module;
		if (!nameless_frame(p, leaf)) {
			rows[module].is_mapped |= p->modules[module].kind == MODULE_GENERATED;
			continue;
		}
		rows[module].module = module;
		rows[module].process = s->process;
		rows[module].is_inlined |= is_inlined(p, leaf);
		rows[module].weight += s->weight;
		n->weight += s->weight;
	}
	for (size_t i = 0; i < p->nr_modules; i++)
		if (rows[i].weight)
			rows[n->nr++] = rows[i];
	if (n->nr)
		qsort(rows, n->nr, sizeof(*rows), by_weight);
	for (size_t i = 0; i < n->nr; i++) {
		const struct module *m = &p->modules[rows[i].module];

		rows[i].is_packaged = rows[i].module && m->kind == MODULE_FILE &&
				      is_packaged(profile_str(p, m->path));
		rows[i].remedy = remedy_of(p, &rows[i]);
	}
}

void nameless_release(struct nameless *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->rows[i].remedy);
	free(n->rows);
}
