/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Widths of columns, and cells that are cut to them. */
#include "base/fit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define GAP 2 /* between columns; 1 where there is little room */

/* Of lines whose columns are as narrow as they get. */
static size_t total(const struct fit_column *v, size_t nr, size_t indent, size_t gap)
{
	size_t sum = indent, shown = 0;

	for (size_t i = 0; i < nr; i++)
		if (!v[i].gone)
			sum += v[i].width + (shown++ ? gap : 0);
	return sum;
}

/* Columns of the highest rank go: how many. */
static size_t drop(struct fit_column *v, size_t nr)
{
	unsigned int rank = 0;
	size_t dropped = 0;

	for (size_t i = 0; i < nr; i++)
		if (!v[i].gone && v[i].rank > rank)
			rank = v[i].rank;
	for (size_t i = 0; i < nr && rank; i++) {
		if (v[i].gone || v[i].rank != rank)
			continue;
		v[i].gone = true;
		dropped++;
	}
	return dropped;
}

/* Who gets the next character of what room is left: by rank, then who has least. */
static struct fit_column *neediest(struct fit_column *v, size_t nr)
{
	struct fit_column *best = NULL;

	for (struct fit_column *c = v; c < v + nr; c++)
		if (!c->gone && c->width < c->full &&
		    (!best || c->rank < best->rank ||
		     (c->rank == best->rank && c->width < best->width)))
			best = c;
	return best;
}

static bool fits(const struct fit_column *v, size_t nr, size_t indent, size_t width, size_t *gap)
{
	*gap = GAP;
	if (total(v, nr, indent, *gap) > width)
		*gap = 1;
	return total(v, nr, indent, *gap) <= width;
}

size_t fit_columns(struct fit_column *v, size_t nr, size_t indent, size_t width, size_t *gap)
{
	struct fit_column *c;
	size_t dropped = 0, more;

	for (size_t i = 0; i < nr; i++)
		v[i].width = v[i].least;
	while (!fits(v, nr, indent, width, gap) && (more = drop(v, nr)))
		dropped += more;
	for (size_t used = total(v, nr, indent, *gap); used < width && (c = neediest(v, nr));
	     used++)
		c->width++;
	return dropped;
}

size_t fit_put(FILE *out, const char *s, size_t width, bool is_function)
{
	const char *number = is_function && *s == '[' ? strstr(s, "+0x") : NULL;
	size_t used, kept = number ? text_width(number) : 0;
	char *head;

	if (!number || text_width(s) <= width || kept + 3 > width)
		return text_fit(out, s, width, 0);
	head = xstrndup(s, number - s);
	used = text_fit(out, head, width - kept, 0);
	fputs(number, out);
	free(head);
	return used + kept;
}
