/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables: kept as cells, measured, fitted, printed. */
#include "output/grid.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fit.h"
#include "base/mem.h"
#include "base/text.h"
#include "output/figures.h"
#include "output/output.h"

#define BELOW 6 /* indent of what did not fit into its line */

void grid_init(struct grid *g, FILE *out, const struct grid_column *columns, size_t nr)
{
	*g = (struct grid){ .out = out, .width = output_width(out) };
	grid_row(g, STYLE_HEAD, NULL);
	for (size_t i = 0; i < nr; i++)
		grid_add(g, columns[i]);
}

void grid_whole(struct grid *g)
{
	if (!isatty(fileno(g->out)))
		g->width = SIZE_MAX;
}

void grid_add(struct grid *g, struct grid_column column)
{
	g->columns = xgrow(g->columns, g->nr_columns, &g->cap_columns, sizeof(*g->columns));
	g->columns[g->nr_columns++] = column;
	grid_cell(g, "%s", column.head);
}

static void add_cell(struct grid *g, char *safe)
{
	g->cells = xgrow(g->cells, g->nr_cells, &g->cap_cells, sizeof(*g->cells));
	g->cells[g->nr_cells++] = safe;
}

static void fill_row(struct grid *g)
{
	while (g->nr_cells < g->nr_rows * g->nr_columns)
		add_cell(g, xstrdup(""));
}

void grid_row(struct grid *g, enum style style, ...)
{
	const char *text;
	va_list cells;

	fill_row(g);
	g->styles = xgrow(g->styles, g->nr_rows, &g->cap_rows, sizeof(*g->styles));
	g->styles[g->nr_rows++] = style;
	va_start(cells, style);
	while ((text = va_arg(cells, const char *)))
		add_cell(g, text_cleaned(text));
	va_end(cells);
}

void grid_cell(struct grid *g, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	add_cell(g, text_cleaned(text));
	free(text);
}

void grid_text(struct grid *g, size_t indent, size_t hanging, const char *text)
{
	g->texts = xgrow(g->texts, g->nr_texts, &g->cap_texts, sizeof(*g->texts));
	g->texts[g->nr_texts++] =
		(struct grid_text){ g->nr_rows - 1, indent, hanging, xstrdup(text) };
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void measure(struct grid *g, size_t i)
{
	struct grid_column *c = &g->columns[i];
	size_t cells = 0;

	for (size_t k = i + g->nr_columns; k < g->nr_cells; k += g->nr_columns)
		cells = max(cells, text_width(g->cells[k]));
	c->full = g->bare ? cells : max(cells, text_width(g->cells[i]));
	c->least = c->min && c->min < c->full ? c->min : c->full;
	if (c->kind == GRID_NUMBER)
		c->least = max(c->least, cells);
	c->gone = !cells || c->kind == GRID_REST;
}

/* Returns how many columns had to go. */
static size_t fit(struct grid *g)
{
	struct fit_column *fitted = xcalloc(g->nr_columns + 1, sizeof(*fitted));
	size_t dropped;

	for (size_t i = 0; i < g->nr_columns; i++) {
		const struct grid_column *c = &g->columns[i];

		measure(g, i);
		fitted[i] = (struct fit_column){
			.rank = c->rank, .least = c->least, .full = c->full, .gone = c->gone
		};
	}
	dropped = fit_columns(fitted, g->nr_columns, g->indent, g->width, &g->gap);
	for (size_t i = 0; i < g->nr_columns; i++) {
		g->columns[i].width = fitted[i].width;
		g->columns[i].gone = fitted[i].gone;
	}
	free(fitted);
	return dropped;
}

static void put_text(const struct grid *g, size_t indent, size_t hanging, const char *text)
{
	fprintf(g->out, "%*s", (int)indent, "");
	figure_wrap(text, indent, hanging, g->width, g->out);
}

/* What stands behind the columns, or below them. The line ends here. */
static void put_rest(const struct grid *g, size_t row, size_t at, size_t start)
{
	size_t last = g->nr_columns - 1;
	const char *text = g->cells[row * g->nr_columns + last];
	bool is_rest = g->columns[last].kind == GRID_REST && *text;
	bool fits = is_rest && (g->width == SIZE_MAX || start + text_width(text) <= g->width);

	if (fits)
		fprintf(g->out, "%*s%s", (int)(start - at), "", text);
	if (g->styles[row] != STYLE_PLAIN)
		style_put(g->out, STYLE_PLAIN);
	fputc('\n', g->out);
	if (is_rest && !fits)
		put_text(g, BELOW, BELOW + 2, text);
}

/* The end of text that is too wide, behind a "…". */
static size_t put_end(FILE *out, const char *text, size_t width)
{
	if (text_width(text) <= width)
		return text_fit(out, text, width, 0);
	while (*text && text_width(text) >= width)
		for (text++; (*text & 0xc0) == 0x80; text++)
			;
	fputs("…", out);
	return 1 + text_fit(out, text, width - 1, 0);
}

static size_t put_cell(const struct grid *g, const struct grid_column *c, const char *cell)
{
	if (c->kind == GRID_PATH)
		return put_end(g->out, cell, c->width);
	return fit_put(g->out, cell, c->width, c->kind == GRID_FUNCTION);
}

static void put_row(const struct grid *g, size_t row)
{
	size_t start = g->indent, at = 0, used, from;

	if (g->styles[row] != STYLE_PLAIN)
		style_put(g->out, g->styles[row]);
	for (size_t i = 0; i < g->nr_columns; i++) {
		const struct grid_column *c = &g->columns[i];
		const char *cell = g->cells[row * g->nr_columns + i];

		if (c->gone)
			continue;
		used = text_width(cell);
		from = start + (c->kind == GRID_NUMBER && used < c->width ? c->width - used : 0);
		if (*cell) {
			fprintf(g->out, "%*s", (int)(from - at), "");
			at = from + put_cell(g, c, cell);
		}
		start += c->width + g->gap;
	}
	put_rest(g, row, at, start);
}

static void put_rows(struct grid *g)
{
	size_t dropped = fit(g), text = 0;

	if (!g->first && !g->bare)
		fputc('\n', g->out);
	for (size_t row = 0; row < g->nr_rows; row++) {
		if (row || !g->bare)
			put_row(g, row);
		for (; text < g->nr_texts && g->texts[text].row == row; text++)
			put_text(g, g->texts[text].indent, g->texts[text].hanging,
				 g->texts[text].text);
	}
	if (dropped)
		fprintf(g->out, "… %zu more column%s (--json has all)\n", dropped,
			dropped > 1 ? "s" : "");
}

void grid_end(struct grid *g)
{
	fill_row(g);
	if (g->nr_rows > 1)
		put_rows(g);
	for (size_t i = 0; i < g->nr_cells; i++)
		free(g->cells[i]);
	for (size_t i = 0; i < g->nr_texts; i++)
		free(g->texts[i].text);
	free(g->texts);
	free(g->cells);
	free(g->styles);
	free(g->columns);
}
