/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sum for each module, and the rows of those that have any. */
#include "profile/nameless.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/lacks.h"
#include "profile/missing.h"
#include "profile/runtime.h"

#define OF_FILE	     "install its debug symbols (a package -dbgsym, -dbg or -debuginfo)"
#define OF_DEBIAN    "apt install %.*s%s"
#define OF_FEDORA    "dnf debuginfo-install $(rpm -qf %s)"
#define OF_INSTALLED "its debug file is installed, and has no names for this code"
#define OF_OWN_FILE  "build it without strip and -s"
#define OF_LINKED    "put that file beside it"
#define OF_BUILD     "put the one of this build there"
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

/*
 * What a recording found out, the most telling first; %s is the detail. A file without a row here
 * is stripped.
 */
static const struct finding {
	enum lack what;
	const char *text;
	bool goes_on; /* with what gives names to code of this runtime */
} findings[] = {
	{ LACK_READ, "it could not be read: %s", false },
	{ LACK_ELF, "it is no ELF file that can be read: damaged, or not of 64 bits", false },
	{ LACK_SECTIONS, "its section table is cut off or damaged: install it again", false },
	{ LACK_NO_TABLE,
	  "it has no section table, as sstrip and packers leave it: run the file as it was linked",
	  false },
	{ LACK_DWARF_MEMORY,
	  "too little memory was left for its DWARF: raise --max-mem, or ulimit -v", false },
	{ LACK_DWARF_DIED, "the process that read its DWARF died", false },
	{ LACK_SERVER_NAMES, "the debug file that debuginfod gave has no names for this code",
	  false },
	{ LACK_MAP_OWNER, "%s was refused: chown it to the user of the process", false },
	{ LACK_MAP_TYPE, "%s was refused, it is no regular file: remove it; ", true },
	{ LACK_MAP_LINK, "%s was refused, it is a symbolic link: put the file itself there",
	  false },
	{ LACK_MAP_RIGHTS, "%s may not be read: run bpfprof as root, or as that user", false },
	{ LACK_MAP_LINES, "no line of %s is one of a perf map (START SIZE NAME): remove it; ",
	  true },
	{ LACK_JAVA, "Java code: --java-names got none: %s", false },
	{ LACK_MAP_LARGE, "%s is larger than 256 MB, of which the rest is not read", false },
	{ LACK_MAP_AGE, "%s was refused, it is older than the process; ", true },
};

static char *filled(const char *text, const char *detail)
{
	const char *at = strstr(text, "%s");

	return at ? xasprintf("%.*s%s%s", (int)(at - text), text, detail, at + 2) : xstrdup(text);
}

static char *remedy_of_finding(const struct profile *p, const char *key, const char *more)
{
	char *detail = NULL, *begin, *remedy;
	const struct finding *f = findings, *end = f + sizeof(findings) / sizeof(*findings);

	while (f < end && !(detail = lacks_detail(p, f->what, key)))
		f++;
	if (!detail)
		return NULL;
	begin = filled(f->text, detail);
	remedy = xasprintf("%s%s", begin, f->goes_on ? more : "");
	free(begin);
	free(detail);
	return remedy;
}

/* The package that has its symbols; NULL: none can. */
static char *package_of(const struct profile *p, const char *path)
{
	static const char elsewhere[] = "-dbgsym";
	const size_t end = sizeof(elsewhere) - 1;
	const char *found;
	size_t len;

	found = is_plain(path, strlen(path)) ? found_of(p, path, &len) : NULL;
	if (!found)
		return NULL;
	if (len == 1 && *found == *NAMELESS_OF_RPM)
		return xasprintf(OF_FEDORA, path);
	if (!is_plain(found, len))
		return NULL;
	return xasprintf(OF_DEBIAN, (int)len, found,
			 len > end && !strncmp(found + len - end, elsewhere, end)
				 ? " (archive debian-debug; of Ubuntu, ddebs)"
				 : "");
}

static bool is_installed(const struct profile *p, const char *path)
{
	size_t len;
	const char *found = found_of(p, path, &len);

	return found && len == 1 && *found == *NAMELESS_INSTALLED;
}

/* Servers go by build-ids; those that were asked are not asked for again. To be freed. */
static char *by_servers(const struct profile *p, const char *path)
{
	static const struct {
		enum lack what;
		const char *text;
	} rows[] = {
		{ LACK_BUILD_ID, "" },
		{ LACK_SERVER_ERROR, "; a debuginfod server failed: HTTP %s" },
		{ LACK_SERVER_FILE, "; debuginfod gave no debug file of it" },
		{ LACK_SERVER, "; no debuginfod server was reached" },
		{ LACK_SERVER_TIME, "; debuginfod did not answer in time" },
	};

	char *detail, *text;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		detail = lacks_detail(p, rows[i].what, path);
		text = detail ? filled(rows[i].text, detail) : NULL;
		free(detail);
		if (text)
			return text;
	}
	return xstrdup(", or --debuginfod");
}

static char *remedy_of_stripped(const struct profile *p, const struct nameless_row *row,
				const char *path)
{
	char *missing = lacks_detail(p, LACK_LINKED, path);
	char *other = lacks_detail(p, LACK_LINKED_BUILD, path);
	char *package = row->is_packaged ? package_of(p, path) : NULL, *text;
	char *servers = by_servers(p, path);
	size_t sz;
	FILE *out = open_memstream(&text, &sz);

	fputs("stripped", out);
	if (lacks_has(p, LACK_BUILD_ID, path))
		fputs(", without a build-id", out);
	if (other)
		fprintf(out, ", and its debug file %s is of another build", other);
	else if (missing && !row->is_packaged)
		fprintf(out, ", and its debug file %s is missing", missing);
	fprintf(out, ": %s",
		package		   ? package
		: row->is_packaged ? OF_FILE
		: other		   ? OF_BUILD
		: missing	   ? OF_LINKED
				   : OF_OWN_FILE);
	fputs(servers, out);
	fclose(out);
	free(servers);
	free(package);
	free(missing);
	free(other);
	return text;
}

static char *remedy_of(const struct profile *p, const struct nameless_row *row,
		       struct runtime_finder *finder)
{
	const struct module *m = &p->modules[row->module];
	const char *path = profile_str(p, m->path), *named = "";
	char key[LACKS_KEY_MAX], *found;

	if (!row->module)
		return xstrdup(OF_NOTHING);
	if (row->is_inlined)
		return xstrdup(OF_INLINED);
	if (m->kind == MODULE_GENERATED) {
		named = row->is_mapped ? OF_MAPPED : runtime_find(finder, row->process)->named;
		path = lacks_key(m->pid, key);
	}
	found = remedy_of_finding(p, path, named);
	if (found || *named)
		return found ? found : xstrdup(named);
	return is_installed(p, path) ? xstrdup(OF_INSTALLED) : remedy_of_stripped(p, row, path);
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
	struct runtime_finder finder = { .profile = p };
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
		rows[i].remedy = remedy_of(p, &rows[i], &finder);
	}
	runtime_finder_release(&finder);
}

void nameless_release(struct nameless *n)
{
	for (size_t i = 0; i < n->nr; i++)
		free(n->rows[i].remedy);
	free(n->rows);
}
