/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The hottest source lines of all code, as a table with a column for each event. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/annotations.h"
#include "output/grid.h"

#define ROWS 40

/* On a terminal the end of a path says more than its begin: folders go until it fits. */
static const char *tail(const char *path, size_t max)
{
	const char *rest = path, *slash;

	while (strlen(rest) > max && (slash = strchr(rest + 1, '/')))
		rest = slash;
	return rest;
}

static void put_line(const struct annotation *a, struct grid *g, uint32_t line)
{
	const struct annotation_line *l = &a->lines[line];
	const struct cost *costs = annotation_line_cost(a, line);
	size_t len = 0;
	const char *source = annotation_source(a, l->file, l->line, &len);
	char *text = annotations_expanded(source ? source : "", len);
	const char *path = annotation_str(a, l->file), *shown = tail(path, g->width / 2 - 8);

	grid_row(g, annotations_style(annotations_most(a, costs)), NULL);
	for (size_t e = 0; e < a->costs->nr_events; e++)
		grid_cell(g, "%s", costs[e].value ? text_pct(annotations_pct(a, costs, e)) : "-");
	grid_cell(g, "%s%s:%" PRIu32, shown == path ? "" : "…", shown, l->line);
	grid_cell(g, "%s", text + strspn(text, " "));
	free(text);
}

static void add_columns(struct grid *g, const struct costs *c)
{
	const struct profile *p = c->profile;

	for (size_t e = 0; e < c->nr_events; e++)
		grid_add(g, (struct grid_column){
				    c->nr_events > 1 ? profile_str(p, p->events[e].name) : "SHARE",
				    .rank = e == c->event ? 0 : e + 3, .min = 12 });
	grid_add(g, (struct grid_column){ "LINE", GRID_TEXT, .min = 24 });
	grid_add(g, (struct grid_column){ "SOURCE", GRID_TEXT, .rank = 2, .min = 16 });
}

void annotations_put_lines(const struct annotations *all, const struct annotation *a,
			   const struct view *v, FILE *out)
{
	size_t max = v->rows ? v->rows : ROWS, nr = 0;
	struct grid g;

	grid_init(&g, out, NULL, 0);
	grid_whole(&g);
	g.first = true;
	add_columns(&g, a->costs);
	for (size_t i = 0; i < a->nr_hottest; i++)
		if (a->lines[a->hottest[i]].file && nr++ < max)
			put_line(a, &g, a->hottest[i]);
	grid_end(&g);
	if (nr > max)
		fprintf(out, "… %zu more: give a larger --rows\n", nr - max);
	annotations_put_notes(a, out);
}
