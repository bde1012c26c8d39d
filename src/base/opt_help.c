/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of a command as a table of two columns. */
#include "base/opt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt_parts.h"
#include "base/text.h"

#define HELP_WIDTH  80
#define HELP_COLUMN 30 /* at most; longer spellings get a line of their own */

/* "  -p, --pid LIST" */
static char *help_spelling(const struct opt *o)
{
	char letter[4] = { '-', o->letter, o->name ? ',' : '\0', '\0' };

	return xasprintf("  %-3s %s%s%s%s", o->letter ? letter : "", o->name ? "--" : "",
			 o->name ? o->name : "", o->metavar ? " " : "",
			 o->metavar ? o->metavar : "");
}

/* Prints text in the columns from column on; the cursor already stands there. */
static void help_wrap(FILE *out, const char *text, size_t column)
{
	size_t at = column, sz;

	for (; *text; text += sz + (text[sz] == ' ')) {
		sz = strcspn(text, " ");
		if (at > column && at + 1 + sz > HELP_WIDTH) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
		}
		at += (size_t)fprintf(out, "%s%.*s", at > column ? " " : "", (int)sz, text);
	}
	fputc('\n', out);
}

static bool is_shown(const struct opt *o)
{
	return (o->name || o->letter) && !o->hidden;
}

static void help_row(FILE *out, const struct opt *o, size_t column)
{
	char *spelling = help_spelling(o);
	size_t width = text_width(spelling);

	fputs(spelling, out);
	if (width + 2 > column)
		fprintf(out, "\n%*s", (int)column, "");
	else
		fprintf(out, "%*s", (int)(column - width), "");
	help_wrap(out, o->help, column);
	free(spelling);
}

void opt_help(FILE *out, const struct opt *opts)
{
	static const struct opt help = { .letter = 'h', .name = "help", .help = "this text" };
	size_t column = text_width("  -h, --help") + 2, width;
	const struct opt *o;
	char *spelling;

	for (o = opts; o->type != OPT_TYPE_END; o++) {
		spelling = is_shown(o) ? help_spelling(o) : NULL;
		width = spelling ? text_width(spelling) + 2 : 0;
		if (width > column && width <= HELP_COLUMN)
			column = width;
		free(spelling);
	}
	for (o = opts; o->type != OPT_TYPE_END; o++) {
		if (o->type == OPT_TYPE_GROUP)
			fprintf(out, "%s%s:\n", o == opts ? "" : "\n", o->help);
		else if (is_shown(o))
			help_row(out, o, column);
	}
	if (!opt_find(opts, "help"))
		help_row(out, &help, column);
}
