/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text as it may stand between commas, and back. */
#include "base/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void csv_put(const char *s, FILE *out)
{
	char *safe = text_cleaned(s ? s : "");

	if (*safe)
		fputc('"', out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	if (*safe)
		fputc('"', out);
	free(safe);
}

/* Moves the text of a quoted field to its begin; returns what stands behind it, NULL: no end. */
static char *unquote(char *field)
{
	char *to = field;

	for (char *c = field + 1; *c; c++) {
		if (*c == '"' && *++c != '"') {
			*to = 0; /* before c, at a quote or what followed it */
			return c;
		}
		*to++ = *c;
	}
	return NULL;
}

bool csv_split(char *line, struct csv_row *row)
{
	char *end = line, stop;

	row->nr = 0;
	do {
		if (row->nr == CSV_MAX_FIELDS)
			return false;
		row->v[row->nr++] = line;
		end = *line == '"' ? unquote(line) : line + strcspn(line, ",");
		if (!end || (*end && *end != ','))
			return false;
		stop = *end;
		*end = 0;
		line = end + 1;
	} while (stop);
	return true;
}
