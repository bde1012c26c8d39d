/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What writers of annotated functions have in common, and the text of all of them. */
#include "output/annotations.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "output/output.h"

#define WARM_PCT 3.0 /* yellow, and red */
#define HOT_PCT	 10.0

double annotations_pct(const struct annotation *a, const struct cost *costs, size_t event)
{
	uint64_t all = a->function.sums[event].value;

	return all ? 100.0 * costs[event].value / all : 0;
}

double annotations_most(const struct annotation *a, const struct cost *costs)
{
	double best = 0;

	for (size_t e = 0; e < a->costs->nr_events; e++)
		if (annotations_pct(a, costs, e) > best)
			best = annotations_pct(a, costs, e);
	return best;
}

enum style annotations_style(double pct)
{
	return pct >= HOT_PCT ? STYLE_BAD : pct >= WARM_PCT ? STYLE_WARNING : STYLE_PLAIN;
}

/* Tabs reach to the next column of eight. */
char *annotations_expanded(const char *s, size_t len)
{
	char *text = NULL, *clean;
	size_t sz, column = 0;
	FILE *f = open_memstream(&text, &sz);

	for (size_t i = 0; i < len; i++) {
		size_t spaces = s[i] == '\t' ? 8 - column % 8 : 0;

		if (spaces)
			fprintf(f, "%*s", (int)spaces, "");
		else
			fputc(s[i], f);
		column += spaces ? spaces : (s[i] & 0xc0) != 0x80;
	}
	fclose(f);
	while (sz && text[sz - 1] == ' ')
		text[--sz] = '\0';
	clean = text_cleaned(text);
	free(text);
	return clean;
}

void annotations_put_notes(const struct annotation *a, FILE *out)
{
	char *safe, *copy = xstrdup(a->note ? a->note : ""), *rest = copy, *note;

	if (a->note)
		fputc('\n', out);
	while (a->note && (note = strsep(&rest, "\n"))) {
		safe = text_cleaned(note);
		fprintf(out, "%s\n", safe);
		free(safe);
	}
	free(copy);
}

int annotations_write_text(const struct annotations *all, const struct view *v, FILE *out)
{
	size_t width = isatty(fileno(out)) ? output_width(out) : SIZE_MAX;

	if (!all->nr)
		fputs("no function has samples by itself\n", out);
	for (size_t i = 0; i < all->nr; i++) {
		if (i)
			fputs("\n\n", out);
		if (all->file_lines)
			annotations_put_lines(all, all->v[i], v, out);
		else
			annotations_put_function(all, all->v[i], width, out);
	}
	return 0;
}
