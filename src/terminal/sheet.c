/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scrolling and drawing of tables. */
#include "terminal/sheet.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fit.h"
#include "base/mem.h"
#include "base/text.h"

#define TEXT_PART 4 /* columns of texts have at most this part of the width */

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The selected row is seen, and no empty line is while there are rows above. */
static void keep_in_view(struct sheet *s)
{
	size_t height = max(s->height, 1);

	if (s->selected < s->first)
		s->first = s->selected;
	else if (s->selected >= s->first + height)
		s->first = s->selected - height + 1;
	if (s->first + height > s->nr)
		s->first = s->nr > height ? s->nr - height : 0;
}

void sheet_select(struct sheet *s, size_t row)
{
	s->selected = s->nr ? min(row, s->nr - 1) : 0;
	keep_in_view(s);
}

void sheet_resize(struct sheet *s, size_t nr)
{
	s->nr = nr;
	sheet_select(s, s->selected);
}

static void move_by(struct sheet *s, size_t rows, bool down)
{
	if (down)
		sheet_select(s, s->selected + rows);
	else
		sheet_select(s, s->selected - min(rows, s->selected));
}

bool sheet_key(struct sheet *s, int key)
{
	size_t page = max(s->height, 2) - 1;

	switch (key) {
	case SCREEN_UP:
	case 'k':
	case SCREEN_CTRL('p'):
		move_by(s, 1, false);
		return true;
	case SCREEN_DOWN:
	case 'j':
	case SCREEN_CTRL('n'):
		move_by(s, 1, true);
		return true;
	case SCREEN_PAGE_UP:
	case SCREEN_CTRL('b'):
		move_by(s, page, false);
		return true;
	case SCREEN_PAGE_DOWN:
	case SCREEN_CTRL('f'):
	case ' ':
		move_by(s, page, true);
		return true;
	case SCREEN_CTRL('u'):
		move_by(s, page / 2, false);
		return true;
	case SCREEN_CTRL('d'):
		move_by(s, page / 2, true);
		return true;
	case SCREEN_HOME:
	case 'g':
		sheet_select(s, 0);
		return true;
	case SCREEN_END:
	case 'G':
		sheet_select(s, s->nr);
		return true;
	}
	return false;
}

void sheet_shift(struct sheet *s, int by)
{
	if (by < 0)
		s->shift -= min((size_t)-by, s->shift);
	else
		s->shift += (size_t)by;
}

/* Widths of what is seen count from then on: columns do not jump while rows go by. */
static void measure(struct sheet *s, const struct sheet_cells *rows, size_t nr)
{
	for (size_t i = 0; i < s->nr_columns; i++)
		for (size_t k = 0; k < nr; k++)
			if (rows[k].text[i])
				s->widest[i] = max(s->widest[i], text_width(rows[k].text[i]));
}

static void fit(struct sheet *s, size_t width, struct fit_column *fitted, size_t *gap)
{
	for (size_t i = 0; i < s->nr_columns; i++) {
		const struct sheet_column *c = &s->columns[i];
		size_t wanted = max(s->widest[i], text_width(c->head) + (s->sorted == (int)i));

		fitted[i] = (struct fit_column){ .rank = c->rank };
		if (c->kind == SHEET_NUMBER)
			fitted[i].least = max(c->least, wanted);
		else if (c->kind == SHEET_TEXT)
			fitted[i].least = min(wanted, max(c->least, width / TEXT_PART));
		else
			fitted[i].least = c->least;
		fitted[i].full = c->kind == SHEET_NUMBER || c->kind == SHEET_TEXT ? fitted[i].least
										  : SIZE_MAX;
		fitted[i].gone = c->kind == SHEET_TEXT && !s->widest[i];
	}
	s->dropped = fit_columns(fitted, s->nr_columns, 0, width, gap);
}

/* Without its first characters, and with a mark that they are there. To be freed. */
static char *shifted(const char *text, size_t by)
{
	char *rest = NULL;
	const char *s = text;
	size_t sz;
	FILE *f;

	while (by && *s) {
		do
			s++;
		while ((*s & 0xc0) == 0x80);
		by--;
	}
	f = open_memstream(&rest, &sz);
	fprintf(f, "%s%s", s > text ? "…" : "", s);
	fclose(f);
	return rest;
}

static char *cut(const char *text, size_t width, bool is_function)
{
	char *shown = NULL;
	size_t sz;
	FILE *f = open_memstream(&shown, &sz);

	fit_put(f, text, width, is_function);
	fclose(f);
	return shown;
}

static void put_cell(const struct sheet *s, size_t i, const struct fit_column *fitted, size_t row,
		     size_t at, const char *text, unsigned int style)
{
	enum sheet_kind kind = s->columns[i].kind;
	bool is_rest = kind == SHEET_REST || kind == SHEET_FUNCTION;
	char *from = shifted(text, is_rest ? s->shift : 0);
	char *shown = cut(from, fitted->width, kind == SHEET_FUNCTION);
	size_t used = text_width(shown);

	if (kind == SHEET_NUMBER && used < fitted->width)
		at += fitted->width - used;
	screen_put(row, at, shown, used, style, false);
	free(shown);
	free(from);
}

static void put_row(const struct sheet *s, const struct fit_column *fitted, size_t gap, size_t row,
		    const struct sheet_cells *cells)
{
	size_t at = 0;

	for (size_t i = 0; i < s->nr_columns; i++) {
		if (fitted[i].gone)
			continue;
		if (cells->text[i])
			put_cell(s, i, &fitted[i], row, at, cells->text[i], cells->style);
		at += fitted[i].width + gap;
	}
}

static void put_heads(const struct sheet *s, const struct fit_column *fitted, size_t gap,
		      size_t row)
{
	struct sheet_cells heads = { .style = SCREEN_HEAD };
	struct sheet as_is = *s;

	as_is.shift = 0;
	for (size_t i = 0; i < s->nr_columns; i++)
		heads.text[i] =
			xasprintf("%s%s", s->columns[i].head, s->sorted == (int)i ? "▾" : "");
	put_row(&as_is, fitted, gap, row, &heads);
	for (size_t i = 0; i < s->nr_columns; i++)
		free(heads.text[i]);
}

void sheet_draw(struct sheet *s, size_t top, size_t height, size_t width)
{
	struct fit_column fitted[SHEET_MAX_COLUMNS];
	struct sheet_cells *rows;
	size_t nr, gap = 0, heads = s->bare ? 0 : 1;

	s->height = height > heads ? height - heads : 0;
	if (width != s->screen_width)
		memset(s->widest, 0, sizeof(s->widest));
	s->screen_width = width;
	keep_in_view(s);
	nr = min(s->height, s->nr - s->first);
	rows = xcalloc(nr + 1, sizeof(*rows));
	for (size_t i = 0; i < nr; i++)
		s->cells(s->arg, s->first + i, &rows[i]);
	measure(s, rows, nr);
	fit(s, width, fitted, &gap);
	if (heads)
		put_heads(s, fitted, gap, top);
	for (size_t i = 0; i < nr; i++) {
		if (s->first + i == s->selected) {
			rows[i].style |= SCREEN_SELECTED;
			screen_put(top + heads + i, 0, "", width, rows[i].style, true);
		}
		put_row(s, fitted, gap, top + heads + i, &rows[i]);
		for (size_t k = 0; k < s->nr_columns; k++)
			free(rows[i].text[k]);
	}
	free(rows);
}
