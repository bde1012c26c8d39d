/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A table that scrolls: as many rows as there are, of which only those that are seen are asked for.
 * Columns fit the width as those of printed tables do (base/fit.h), and stay where they are while
 * rows go by.
 */
#ifndef BPFPROF_TERMINAL_SHEET_H
#define BPFPROF_TERMINAL_SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "terminal/screen.h"

#define SHEET_MAX_COLUMNS 16

enum sheet_kind {
	SHEET_NUMBER,	/* right */
	SHEET_TEXT,	/* left; at most a quarter of the width */
	SHEET_REST,	/* left; all the room that others leave */
	SHEET_FUNCTION, /* the same, and of "[module+0x1234]" the number is kept */
};

struct sheet_column {
	const char *head;
	enum sheet_kind kind;
	unsigned int rank; /* as in base/fit.h */
	size_t least;	   /* the least width; of numbers what it has from the begin */
};

/* What one row shows. */
struct sheet_cells {
	char *text[SHEET_MAX_COLUMNS]; /* safe, freed by the sheet; NULL = nothing */
	unsigned int style;	       /* enum screen_style */
};

struct sheet {
	const struct sheet_column *columns;
	size_t nr_columns;
	bool bare;  /* text: without headings */
	int sorted; /* the column that rows are sorted by, -1 = none */
	void (*cells)(void *arg, size_t row, struct sheet_cells *cells);
	void *arg;
	size_t nr, selected, first; /* rows; of these the first one that is seen */
	/* Its own. */
	size_t height, screen_width, shift, dropped;
	size_t widest[SHEET_MAX_COLUMNS]; /* of what was seen so far */
};

/* Rows with one of them selected; called whenever rows come and go. */
void sheet_resize(struct sheet *s, size_t nr);
void sheet_select(struct sheet *s, size_t row);

/* Moves by a key: arrows, j and k, pages, first and last. False: the key is another one. */
bool sheet_key(struct sheet *s, int key);

/* The last column begins so many characters further left: what is cut off comes into view. */
void sheet_shift(struct sheet *s, int by);

/* The heading on the first line, rows below. */
void sheet_draw(struct sheet *s, size_t top, size_t height, size_t width);

#endif
