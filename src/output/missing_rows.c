/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of the summary, below those of what has no name. */
#include "output/missing_rows.h"

#include <string.h>

#include "base/text.h"
#include "output/json_put.h"
#include "profile/missing.h"

#define ROWS 5

#define OF_ALT "install it with the debug symbols, or put it there"
#define OF_DWO "keep it there, or build without -gsplit-dwarf"

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
	fputs(" (split DWARF; packages of it, .dwp, need libdw 0.191): " OF_DWO "\n", out);
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
}

static void add(struct json_object *list, const struct missing *m, const char *kind,
		const char *missing, uint32_t nr, const char *remedy)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "file", json_text(m->path));
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
			add(list, &m, "dwz", m.alt, 1, OF_ALT);
		if (*m.dwo)
			add(list, &m, "dwo", m.dwo, m.nr, OF_DWO);
		missing_release(&m);
	}
	return list;
}
