/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The printer of tables. Columns come first, then rows of cells; grid_end() lays them out, prints
 * them and frees all:
 *
 *	static const struct grid_column columns[] = {
 *		{ "SELF", .rank = 1 },
 *		{ "FUNCTION", GRID_FUNCTION, .min = 24 },
 *	};
 *
 *	grid_init(&g, out, columns, 2);
 *	grid_row(&g, STYLE_PLAIN, "12.5%", name, NULL);
 *	grid_end(&g);
 *
 * Columns are as wide as what stands in them. Where the terminal is too narrow for that, texts are
 * cut down to their least width, those of high rank first; then the gaps between columns shrink;
 * then columns go, those of the highest rank first, and the table says how many. Numbers are never
 * cut. A column with nothing below its heading is not shown, a table without rows not printed.
 * Between rows there may be lines of text, as headings of groups and as notes.
 */
#ifndef BPFPROF_OUTPUT_GRID_H
#define BPFPROF_OUTPUT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output/style.h"

enum grid_kind {
	GRID_NUMBER,   /* right; where there is no room its heading is cut, to min */
	GRID_TEXT,     /* left; cut at its end */
	GRID_FUNCTION, /* the same, but of "[module+0x1234]" the number is kept */
	GRID_REST,     /* the last one: never cut, below the row where the line has no room */
	GRID_PATH,     /* left; cut at its begin */
};

struct grid_column {
	const char *head;
	enum grid_kind kind;
	unsigned int rank; /* 0: is always shown; those of one rank go together */
	size_t min;	   /* the least width, 0: as wide as what stands in it */
	/* The printer's own. */
	size_t full, least, width;
	bool gone;
};

struct grid {
	FILE *out;
	size_t width;  /* of the terminal */
	size_t indent; /* of all lines */
	bool first;    /* no empty line above */
	bool bare;     /* no headings, and no empty line: the columns speak for themselves */
	/* The printer's own. */
	struct grid_column *columns;
	size_t nr_columns, cap_columns, gap;
	char **cells; /* safe text, row by row; the first row is the headings */
	size_t nr_cells, cap_cells;
	enum style *styles; /* of the rows */
	size_t nr_rows, cap_rows;
	struct grid_text {
		size_t row; /* that it stands behind */
		size_t indent, hanging;
		char *text;
	} * texts;
	size_t nr_texts, cap_texts;
};

/* Fits the terminal behind out, and 80 columns where there is none. */
void grid_init(struct grid *g, FILE *out, const struct grid_column *columns, size_t nr);

/* Where there is no terminal, all columns in full: for tables that other programs search. */
void grid_whole(struct grid *g);

/* A further column, before the first row. */
void grid_add(struct grid *g, struct grid_column column);

/* A row, with its first cells, up to a NULL. Cells are made safe here; those it lacks are empty. */
__attribute__((sentinel)) void grid_row(struct grid *g, enum style style, ...);

/* The next cell of the row. */
__attribute__((format(printf, 2, 3))) void grid_cell(struct grid *g, const char *format, ...);

/* A text behind the last row, wrapped; hanging: the indent of its further lines. */
void grid_text(struct grid *g, size_t indent, size_t hanging, const char *text);

void grid_end(struct grid *g);

#endif
