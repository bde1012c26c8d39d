/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The picture of a live view: heads, pages, where one is, the rows, a line for messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "terminal/top_parts.h"

#define MIN_COLUMNS 16
#define MIN_ROWS    3
#define HEAD_ROWS   12 /* on less there are no heads, but for what was lost */
#define PAGES_ROWS  6  /* on less there are no names of pages */

static const char *head_of(const struct top *t, size_t i)
{
	if (t->data.heads[i])
		return t->data.heads[i];
	return i ? "" : "waiting for the first look";
}

static unsigned int style_of_head(const struct top *t, size_t i)
{
	if (i == 1 && t->data.lost)
		return SCREEN_BAD;
	return i ? SCREEN_PLAIN : SCREEN_HEAD;
}

static size_t put_heads(const struct top *t, size_t rows, size_t width)
{
	size_t top = 0;
	char *lost;

	if (rows >= HEAD_ROWS)
		for (size_t i = 0; i < TOP_HEADS; i++)
			screen_put_cut(head_of(t, i), top++, width, style_of_head(t, i));
	else if (t->data.lost) {
		lost = xasprintf("%s LOST", text_count(t->data.lost));
		screen_put_cut(lost, top++, width, SCREEN_BAD);
		free(lost);
	}
	return top;
}

/* The pages, and on the right what is shown of them. */
static void put_pages(const struct top *t, size_t row, size_t width)
{
	size_t at = 0;
	char *where = NULL, *process = t->pid ? xasprintf("%s/%u", t->process, t->pid) : NULL;
	size_t sz;
	FILE *f = open_memstream(&where, &sz);

	for (size_t i = 0; i < OVERVIEW_NR && at < width; i++) {
		const char *name = overview_names[i];
		unsigned int style = i == t->page ? SCREEN_SELECTED : SCREEN_PLAIN;
		size_t shown = width >= 60 || i == t->page ? strlen(name) : 1;

		screen_put(row, at, name, shown < width - at ? shown : width - at, style, false);
		screen_put(row, at, name, 1, style | SCREEN_UNDERLINED, false);
		at += shown + 2;
	}
	fprintf(f, "%s%s%s", t->paused ? "FROZEN  " : "", process ? "only " : "",
		process ? process : "");
	if (t->pattern)
		fprintf(f, "%s/%s/ leaves out %zu", process ? "  " : "", t->pattern,
			t->overview.nr_hidden);
	fclose(f);
	if (at < width)
		screen_put(row, at, where, width - at, SCREEN_WARNING, false);
	free(where);
	free(process);
}

static const char *const hints[OVERVIEW_NR] = {
	[OVERVIEW_FUNCTIONS] = "Enter callers and callees",
	[OVERVIEW_PROCESSES] = "Enter only this process",
	[OVERVIEW_THREADS] = "Enter call trees of threads",
	[OVERVIEW_WAITS] = "Enter call trees of waits",
};

static void put_status(const struct top *t, size_t row, size_t width)
{
	const struct sheet *s = &t->sheet;
	char *where = xasprintf("%zu/%zu%s", s->nr ? s->selected + 1 : 0, s->nr,
				s->dropped ? "  columns cut" : "");
	char *keys = xasprintf("%s  Space %s  / filter  s save  ? help  q quit", hints[t->page],
			       t->paused ? "go on" : "freeze");
	static const char few[] = "? help  q quit";
	size_t used = text_width(where);

	if (t->message) {
		screen_put_cut(t->message, row, width, t->is_bad ? SCREEN_WARNING : SCREEN_PLAIN);
	} else {
		screen_put_cut(where, row, width, SCREEN_PLAIN);
		if (used + 2 + text_width(keys) <= width)
			screen_put(row, width - text_width(keys), keys, width, SCREEN_QUIET, false);
		else if (used + 2 + strlen(few) <= width)
			screen_put(row, width - strlen(few), few, width, SCREEN_QUIET, false);
	}
	free(where);
	free(keys);
}

static const char *why_empty(const struct top *t)
{
	if (!t->data.profile)
		return "nothing was seen yet";
	if (t->overview.nr_hidden)
		return "the filter leaves out all; Esc takes it away";
	if (t->page == OVERVIEW_FUNCTIONS)
		return t->pid ? "this process did not run" : "no code was sampled";
	return "no thread was seen";
}

static void put_help(size_t rows, size_t width)
{
	for (size_t i = 0; top_help[i] && i + 1 < rows; i++)
		screen_put_cut(top_help[i], i, width,
			       top_help[i][0] == ' ' ? SCREEN_PLAIN : SCREEN_HEAD);
	screen_put_cut("any key goes back", rows - 1, width, SCREEN_QUIET);
}

static void put_all(struct top *t, size_t rows, size_t width)
{
	size_t top = put_heads(t, rows, width);

	if (rows >= PAGES_ROWS)
		put_pages(t, top++, width);
	sheet_draw(&t->sheet, top, rows - top - 1, width);
	if (!t->overview.nr && rows - top > 2)
		screen_put_cut(why_empty(t), top + 1, width, SCREEN_QUIET);
	if (t->filtering && !t->message)
		prompt_draw(&t->prompt, "/", rows - 1, width);
	else
		put_status(t, rows - 1, width);
}

void top_draw(struct top *t)
{
	size_t width, rows;
	char *small;

	if (t->browser) {
		browse_draw(t->browser);
		return;
	}
	screen_size(&width, &rows);
	screen_begin();
	if (width < MIN_COLUMNS || rows < MIN_ROWS) {
		small = xasprintf("too small: %zux%zu", width, rows);
		screen_put(0, 0, small, width, SCREEN_PLAIN, false);
		free(small);
	} else if (t->helping) {
		put_help(rows, width);
	} else {
		put_all(t, rows, width);
	}
	screen_end();
}
