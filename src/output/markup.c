/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Escaping for XML and for Markdown, of text that is made safe first. */
#include "output/markup.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void xml_put(const char *s, FILE *out)
{
	char *safe = text_cleaned(s ? s : "");

	for (const char *c = safe; *c; c++) {
		switch (*c) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(*c, out);
		}
	}
	free(safe);
}

void markdown_put(const char *s, FILE *out)
{
	char *safe = text_cleaned(s ? s : "");

	for (const char *c = safe; *c; c++) {
		if (*c == '&')
			fputs("&amp;", out);
		else if (*c == '<')
			fputs("&lt;", out);
		else if (strchr("\\`*_[]|~#>$", *c))
			fprintf(out, "\\%c", *c);
		else
			fputc(*c, out);
	}
	free(safe);
}
