/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of the summary, below those of what has no name. */
#include "output/missing_rows.h"

#include <string.h>

#include "base/text.h"
#include "profile/missing.h"

#define ROWS 5

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
	fputs(" (dwz), which is not there, nor by its build-id below /usr/lib/debug\n", out);
}

static void put_dwo(const struct missing *m, FILE *out)
{
	fputs("          ", out);
	put(out, m->path);
	fputs(": inlined calls and lines of who makes them are missing: there is no ", out);
	put(out, m->dwo);
	if (m->nr > 1)
		fprintf(out, ", nor %u more", m->nr - 1);
	fputs(" (split DWARF; packages of it, .dwp, need libdw 0.191)\n", out);
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
