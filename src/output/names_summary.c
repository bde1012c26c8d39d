/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line for each of the heaviest modules, and one for the servers of debug files. */
#include "output/names_summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/missing_rows.h"
#include "profile/lacks.h"
#include "profile/nameless.h"

#define ROWS 3

static double pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0;
}

static void put_safe(FILE *out, const struct profile *p, uint32_t string)
{
	const char *s = profile_str(p, string);

	text_clean(out, s, strlen(s));
}

/* What servers of debug files did not give: "debuginfod https://x: not given for 3 files". */
static void put_servers(const struct profile *p, FILE *out)
{
	static const struct {
		enum lack what;
		const char *text;
	} rows[] = {
		{ LACK_SERVER, "not reached" },
		{ LACK_SERVER_TIME, "no answer in time" },
		{ LACK_SERVER_ERROR, "an error for an answer" },
		{ LACK_SERVER_FILE, "not given" },
	};
	char *servers = lacks_detail(p, LACK_SERVERS, "");
	const char *between = ": ";
	size_t nr;

	for (size_t i = 0; servers && i < sizeof(rows) / sizeof(*rows); i++) {
		nr = lacks_count(p, rows[i].what);
		if (!nr)
			continue;
		if (*between == ':')
			fprintf(out, "          debuginfod %s", servers);
		fprintf(out, "%s%s for %s file%s", between, rows[i].text, text_count(nr),
			nr == 1 ? "" : "s");
		between = ", ";
	}
	if (*between == ',')
		fputc('\n', out);
	free(servers);
}

/* Rows of modules do not show it: the interpreter's own functions have names. */
static void put_python(const struct profile *p, FILE *out)
{
	size_t unread = lacks_count(p, LACK_PYTHON), others = lacks_count(p, LACK_PYTHON_OTHER);
	char *why = others ? lacks_first(p, LACK_PYTHON_OTHER) : NULL;

	if (unread)
		fprintf(out,
			"          functions of Python of %s process%s are missing: it takes "
			"CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH to look into %s\n",
			text_count(unread), unread == 1 ? "" : "es", unread == 1 ? "it" : "them");
	if (why)
		fprintf(out, "          functions of Python of %s process%s are missing: %s\n",
			text_count(others), others == 1 ? "" : "es", why);
	free(why);
}

void names_put_summary(const struct profile *p, const char *of, FILE *out)
{
	bool lacks_inlined = false;
	struct nameless n;

	nameless_init(&n, p);
	for (size_t i = 0; i < n.nr; i++)
		lacks_inlined |= n.rows[i].is_inlined;
	if (n.all) {
		fprintf(out, "names     %s of %s in user code that has names",
			text_pct(pct(n.all - n.weight, n.all)), of);
		if (n.inlined)
			fprintf(out, ", %s in inlined calls", text_pct(pct(n.inlined, n.all)));
		fputc('\n', out);
	}
	for (size_t i = 0; i < n.nr && i < ROWS; i++) {
		const struct nameless_row *row = &n.rows[i];
		bool is_file = row->module && p->modules[row->module].kind == MODULE_FILE;

		if (pct(row->weight, n.all) < NAMELESS_LISTED)
			break;
		fprintf(out, "  %13s ", text_pct(pct(row->weight, n.all)));
		put_safe(out, p, is_file ? p->modules[row->module].path : row->process);
		fprintf(out, ": %s\n", row->remedy);
	}
	nameless_release(&n);
	put_servers(p, out);
	put_python(p, out);
	missing_rows_put(p, lacks_inlined, out);
}
