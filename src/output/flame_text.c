/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text of flame graphs, escaped for HTML, for XML and for the script within both. */
#include <stdint.h>
#include <string.h>

#include "output/flame.h"

/* Of the character that begins with byte c: most scripts from U+1000 on are drawn double. */
static size_t columns_of(char c)
{
	unsigned char byte = c;

	return byte >= 0xe1 ? 2 : (byte & 0xc0) != 0x80;
}

static size_t total_columns(const char *s)
{
	size_t nr = 0;

	for (; *s; s++)
		nr += columns_of(*s);
	return nr;
}

void flame_put_text_cut(FILE *out, const char *s, size_t columns)
{
	static const char *const entities[128] = {
		['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;", ['\''] = "&#39;"
	};
	bool cut = total_columns(s) > columns;
	size_t left = cut ? columns - 1 : columns;

	for (; *s && left >= columns_of(*s); s++) {
		left -= columns_of(*s);
		if (!(*s & 0x80) && entities[(int)*s])
			fputs(entities[(int)*s], out);
		else
			fputc(*s, out);
	}
	if (cut)
		fputs("…", out);
}

void flame_put_text(FILE *out, const char *s)
{
	flame_put_text_cut(out, s, SIZE_MAX);
}

/*
 * Within <script>, in HTML and in XML: nothing may end the element, open a comment or a CDATA
 * section, or be a line end to JavaScript (U+2028 and U+2029).
 */
void flame_put_json(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		if (!strncmp(s, "\xe2\x80\xa8", 3) || !strncmp(s, "\xe2\x80\xa9", 3)) {
			fprintf(out, "\\u202%x", s[2] & 0xf);
			s += 2;
		} else if ((unsigned char)*s < ' ' || strchr("\"\\<>&'", *s)) {
			fprintf(out, "\\u%04x", *s);
		} else {
			fputc(*s, out);
		}
	}
	fputc('"', out);
}
