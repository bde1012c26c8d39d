/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The picture: what was recorded, views, where one is, the page, a line for messages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "terminal/browse_parts.h"

#define MIN_COLUMNS 16
#define MIN_ROWS    3
#define HEAD_ROWS   12 /* on less there is no head */
#define VIEWS_ROWS  7  /* on less there are no names of views, and no path */
#define MAX_PART    40 /* columns of a name in the path */

/* The end of a text, where there is no room for all of it. */
static void put_end(const char *safe, size_t row, size_t width, unsigned int style)
{
	size_t over = text_width(safe);

	if (over <= width) {
		screen_put(row, 0, safe, width, style, false);
		return;
	}
	while (*safe && text_width(safe) + 1 > width)
		do
			safe++;
		while ((*safe & 0xc0) == 0x80);
	screen_put(row, 0, "…", 1, style, false);
	screen_put(row, 1, safe, width - 1, style, false);
}

/* What was lost must not be cut off. */
static void put_ledger(const struct browse *b, size_t row, size_t width)
{
	unsigned int style = b->lost ? SCREEN_BAD : SCREEN_PLAIN;
	char *lost;

	if (!b->lost || text_width(b->ledger) <= width) {
		screen_put_cut(b->ledger, row, width, style);
		return;
	}
	lost = xasprintf("%s LOST", text_count(b->lost));
	screen_put_cut(lost, row, width, style);
	free(lost);
}

/* The key of each is its first letter; where there is no room for more, that is all of others. */
static void put_views(const struct browser *br, size_t row, size_t width)
{
	size_t at = 0, all = 0;

	for (size_t i = 0; i < BROWSE_NR_VIEWS; i++)
		all += text_width(browse_views[i]) + (i ? 2 : 0);
	for (size_t i = 0; i < BROWSE_NR_VIEWS && at < width; i++) {
		const char *name = browse_views[i];
		unsigned int style = i == br->view ? SCREEN_SELECTED : SCREEN_PLAIN;
		size_t shown = all <= width || i == br->view ? text_width(name) : 1;

		screen_put(row, at, name, shown < width - at ? shown : width - at, style, false);
		screen_put(row, at, name, 1, style | SCREEN_UNDERLINED, false);
		at += shown + 2;
	}
}

static void add_part(FILE *path, const char *name)
{
	if (ftell(path))
		fputs(" › ", path);
	text_fit(path, name, MAX_PART, 0);
}

static void add_lenses(FILE *path, const struct lens *l)
{
	if (!l || !l->name)
		return;
	add_lenses(path, l->outer);
	add_part(path, l->name);
}

static void add_pages(FILE *path, const struct page *page)
{
	if (!page || !page->title)
		return;
	add_pages(path, page->below);
	add_part(path, page->title);
}

/* Where one is: the event of several, what was zoomed into, what was opened; "" = at the top. */
static char *path_text(const struct browser *br)
{
	const struct tree *t = lens_tree(br->lens, LENS_DOWN);
	uint64_t all = t->nodes[0].total + t->left_out;
	char *text = NULL, *event;
	size_t sz;
	FILE *f = open_memstream(&text, &sz);

	if (profile_is_mixed(br->b->profile)) {
		event = text_cleaned(profile_str(br->profile, br->profile->meta.event));
		add_part(f, event);
		free(event);
	}
	if (br->lens->outer || br->page->below)
		add_part(f, "all");
	add_lenses(f, br->lens);
	if (br->page->below)
		add_part(f, browse_views[br->view]);
	add_pages(f, br->page);
	if (t->left_out)
		fprintf(f, "%s(100%% here is %.1f%% of all)", ftell(f) ? "  " : "",
			100.0 * t->nodes[0].total / all);
	fclose(f);
	return text;
}

/* Keys on the right, if there is room for them. */
static bool put_keys(const char *keys, size_t row, size_t used, size_t width)
{
	size_t nr = text_width(keys);

	if (used + 2 + nr > width)
		return false;
	screen_put(row, width - nr, keys, nr, SCREEN_QUIET, false);
	return true;
}

static void put_status(const struct browser *br, size_t row, size_t width)
{
	bool is_top = !br->page->below && !br->lens->outer;
	const struct sheet *s = &br->page->sheet;
	char *way_out = xasprintf("? help  q %s", is_top ? "quit" : "back");
	const char *hint = br->page->note ? br->page->note : br->page->ops->hint;
	char *keys = xasprintf("%s  %s", hint, way_out);
	char *where = xasprintf("%zu/%zu", s->nr ? s->selected + 1 : 0, s->nr), *all;

	all = s->dropped ? xasprintf("%s  %zu column%s cut", where, s->dropped,
				     s->dropped > 1 ? "s" : "")
			 : xstrdup(where);
	if (br->message) {
		screen_put_cut(br->message, row, width, br->is_bad ? SCREEN_WARNING : SCREEN_PLAIN);
	} else {
		screen_put_cut(all, row, width, SCREEN_PLAIN);
		if (!put_keys(keys, row, text_width(all), width))
			put_keys(way_out, row, text_width(all), width);
	}
	free(all);
	free(keys);
	free(where);
	free(way_out);
}

static void put_page(struct browser *br, size_t top, size_t rows, size_t width)
{
	sheet_draw(&br->page->sheet, top, rows, width);
	if (!br->page->sheet.nr && rows > 1)
		screen_put_cut(br->page->note ? br->page->note : "no stack is in this view",
			       top + 1, width, SCREEN_QUIET);
}

static size_t put_top(struct browser *br, size_t rows, size_t width)
{
	char *path = path_text(br);
	size_t top = 0;

	if (rows >= HEAD_ROWS && !br->page->sheet.bare) {
		screen_put_cut(br->b->head, top++, width, SCREEN_HEAD);
		put_ledger(br->b, top++, width);
	}
	if (rows >= VIEWS_ROWS) {
		if (!br->page->sheet.bare)
			put_views(br, top++, width);
		if (*path)
			put_end(path, top++, width, SCREEN_WARNING);
	}
	free(path);
	return top;
}

void browse_draw(struct browser *br)
{
	size_t width, rows, top;
	char *small;

	screen_size(&width, &rows);
	screen_begin();
	if (width < MIN_COLUMNS || rows < MIN_ROWS) {
		small = xasprintf("too small: %zux%zu, the least is %dx%d", width, rows,
				  MIN_COLUMNS, MIN_ROWS);
		for (size_t i = 0; i < rows && i * width < strlen(small); i++)
			screen_put(i, 0, small + i * width, width, SCREEN_PLAIN, false);
		free(small);
		screen_end();
		return;
	}
	top = put_top(br, rows, width);
	put_page(br, top, rows - top - 1, width);
	if (br->searching)
		prompt_draw(&br->search, "/", rows - 1, width);
	else
		put_status(br, rows - 1, width);
	screen_end();
}
