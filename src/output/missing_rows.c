/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of the summary, below those of what has no name. */
#include "output/missing_rows.h"

#include <string.h>

#include "base/text.h"
#include "output/json_put.h"
#include "profile/lacks.h"
#include "profile/missing.h"

#define ROWS 5

#define OF_ALT "install it with the debug symbols, or put it there"
#define OF_DWO "keep it there, or its package beside the program, or build without -gsplit-dwarf"

/* What is there, and not read. */
static const struct unread {
	enum lack what;
	const char *kind, *why, *remedy;
} unread[] = {
	{ LACK_DWARF_PACKED, "zstd", "compressed with zstd, which is not read",
	  "objcopy --decompress-debug-sections" },
	{ LACK_DWARF_LARGE, "large", "of more than 1 GB, or packed too well", "build it with -g1" },
	{ LACK_DWARF_MEMORY, "memory", "too large for the memory that was left",
	  "raise --max-mem, or ulimit -v" },
	{ LACK_DWARF_DIED, "ended", "not read, since the process that read it was ended",
	  "was memory short? (dmesg)" },
};

static void put(FILE *out, const char *s)
{
	text_clean(out, s, strlen(s));
}

static void put_alt(const struct missing *m, FILE *out)
{
	fputs("          ", out);
	put(out, m->path);
	fputs(": names of inlined calls are in ", out);
	put(out, m->alt);
	fputs(" (dwz), which is not there, nor by its build-id below /usr/lib/debug: " OF_ALT "\n",
	      out);
}

static void put_dwo(const struct missing *m, FILE *out)
{
	fputs("          ", out);
	put(out, m->path);
	fputs(": inlined calls and lines of who makes them are missing: there is no ", out);
	put(out, m->dwo);
	if (m->nr > 1)
		fprintf(out, ", nor %u more", m->nr - 1);
	fputs(" (split DWARF), nor a package with it, ", out);
	put(out, m->path);
	fputs(".dwp: " OF_DWO "\n", out);
}

/* The next one of a kind, from a module on; SIZE_MAX: there are no more. */
static size_t next_unread(const struct profile *p, const struct unread *u, size_t module)
{
	if (!lacks_count(p, u->what))
		return SIZE_MAX;
	while (module < p->nr_modules &&
	       !lacks_has(p, u->what, profile_str(p, p->modules[module].path)))
		module++;
	return module < p->nr_modules ? module : SIZE_MAX;
}

static void put_unread(const struct profile *p, const struct unread *u, FILE *out)
{
	size_t nr = 0;

	for (size_t i = 0; nr++ < ROWS && (i = next_unread(p, u, i)) != SIZE_MAX; i++) {
		fputs("          ", out);
		put(out, profile_str(p, p->modules[i].path));
		fprintf(out, ": inlined calls and lines are missing: its DWARF is %s: %s\n", u->why,
			u->remedy);
	}
}

void missing_rows_put(const struct profile *p, bool lacks_inlined, FILE *out)
{
	struct missing m;
	size_t at = 0;

	for (int i = 0; i < ROWS && missing_next(p, &at, &m); i++) {
		if (*m.alt && lacks_inlined)
			put_alt(&m, out);
		if (*m.dwo)
			put_dwo(&m, out);
		missing_release(&m);
	}
	for (size_t i = 0; i < sizeof(unread) / sizeof(*unread); i++)
		put_unread(p, &unread[i], out);
}

static void add(struct json_object *list, const char *file, const char *kind, const char *missing,
		uint32_t nr, const char *remedy)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "file", json_text(file));
	json_object_object_add(o, "missing", json_text(missing));
	json_object_object_add(o, "kind", json_text(kind));
	json_put_count(o, "files", nr);
	json_object_object_add(o, "remedy", json_text(remedy));
	json_object_array_add(list, o);
}

struct json_object *missing_rows_json(const struct profile *p, bool lacks_inlined)
{
	struct json_object *list = json_object_new_array();
	struct missing m;
	size_t at = 0;

	while (missing_next(p, &at, &m)) {
		if (*m.alt && lacks_inlined)
			add(list, m.path, "dwz", m.alt, 1, OF_ALT);
		if (*m.dwo)
			add(list, m.path, "dwo", m.dwo, m.nr, OF_DWO);
		missing_release(&m);
	}
	for (size_t k = 0; k < sizeof(unread) / sizeof(*unread); k++)
		for (size_t i = 0; (i = next_unread(p, &unread[k], i)) != SIZE_MAX; i++) {
			const char *path = profile_str(p, p->modules[i].path);

			add(list, path, unread[k].kind, path, 1, unread[k].remedy);
		}
	return list;
}
