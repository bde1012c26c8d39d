/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pages of call trees, in either direction, of all or below a node. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "terminal/page.h"

#define INDENT	 2
#define MAX_ROWS 500000 /* of what is expanded at once: more is for no eyes */

static const struct sheet_column down_columns[] = {
	{ "TOTAL", SHEET_NUMBER, .rank = 1, .least = 6 },
	{ "SELF", SHEET_NUMBER, .rank = 2, .least = 6 },
	{ "MODULE", SHEET_TEXT, .rank = 3, .least = 8 },
	{ "FUNCTION", SHEET_REST, .rank = 0, .least = 10 },
};

/* What a node has by itself would be the scheduler's, or of threads that ways upwards end in. */
static const struct sheet_column bare_columns[] = {
	{ "TOTAL", SHEET_NUMBER, .rank = 1, .least = 6 },
	{ "MODULE", SHEET_TEXT, .rank = 2, .least = 8 },
	{ "FUNCTION", SHEET_REST, .rank = 0, .least = 10 },
};

static const struct tree_node *node_of(const struct page *page, size_t row)
{
	return &page->outline.t->nodes[page->outline.rows[row].node];
}

static const char *mark(const struct outline *o, size_t row)
{
	if (outline_has_children(o, row) && !outline_is_open(o, row))
		return "+ ";
	if (outline_is_link(o, row))
		return "  ";
	return outline_has_children(o, row) ? "- " : "· ";
}

static void cells(void *arg, size_t row, struct sheet_cells *cells)
{
	const struct page *page = arg;
	const struct outline *o = &page->outline;
	const struct tree_node *n = node_of(page, row);
	const char *name = tree_name(o->t, n);
	size_t i = 0;

	cells->text[i++] = share_text(o->t, n->total);
	if (page->sheet.columns == down_columns)
		cells->text[i++] = share_text(o->t, n->self);
	cells->text[i++] = page_module(o->t->profile, n->module);
	cells->text[i] =
		xasprintf("%*s%s%s", (int)(o->rows[row].indent * INDENT), "", mark(o, row), name);
	if (n->kind == FRAME_NONE)
		cells->style = strcmp(name, "[lost]") ? SCREEN_HEAD : SCREEN_BAD;
}

static void follow(struct page *page, size_t row)
{
	page->sheet.nr = page->outline.nr;
	sheet_select(&page->sheet, row);
}

static enum tree_order order_of(const struct page *page, int column)
{
	const char *head = page->sheet.columns[column].head;

	return !strcmp(head, "SELF")	   ? TREE_BY_SELF
	       : !strcmp(head, "FUNCTION") ? TREE_BY_NAME
					   : TREE_BY_TOTAL;
}

/* Other pages of the tree may have put siblings into their own order. */
static void sort(struct page *page, int column)
{
	uint32_t node = page->outline.nr ? page->outline.rows[page->sheet.selected].node : 0;

	outline_sort(&page->outline, order_of(page, column));
	follow(page, node ? outline_reveal(&page->outline, node) : 0);
}

struct search {
	const struct tree *t;
	const char *text;
	uint8_t *known; /* by name: 1 does not match, 2 does */
};

static bool matches(void *arg, uint32_t node)
{
	struct search *s = arg;
	uint32_t name = s->t->nodes[node].name;

	if (!s->known[name])
		s->known[name] = page_matches(s->t->names.bytes + name, s->text) ? 2 : 1;
	return s->known[name] == 2;
}

/* In all of the tree: what was not expanded is. */
static size_t find(struct page *page, size_t from, bool back, const char *text)
{
	struct outline *o = &page->outline;
	struct search search = { o->t, text, xcalloc(o->t->names.len, 1) };
	uint32_t node = 0, start = o->nr && from < o->nr ? o->rows[from].node : o->root;
	size_t row = SIZE_MAX;

	node = outline_find(o, start, back, matches, &search);
	if (node) {
		row = outline_reveal(o, node);
		page->sheet.nr = o->nr;
	}
	free(search.known);
	return row;
}

static const char *function(struct page *page, size_t row)
{
	const struct tree_node *n = node_of(page, row);

	return n->kind == FRAME_NONE || n->waker ? NULL : tree_name(page->outline.t, n);
}

static struct page *enter(struct page *page, size_t row)
{
	if (outline_is_open(&page->outline, row))
		outline_collapse(&page->outline, row);
	else
		outline_expand(&page->outline, row);
	follow(page, row);
	return NULL;
}

static enum lens_tree which_tree(const struct page *page)
{
	enum lens_tree which = LENS_DOWN;

	while (page->lens->trees[which] != page->outline.t)
		which++;
	return which;
}

static struct page *zoom(struct page *page, size_t row)
{
	return page_new_tree(page->lens, which_tree(page), page->outline.rows[row].node);
}

static void to_the_right(struct page *page, size_t row)
{
	struct outline *o = &page->outline;

	if (outline_is_open(o, row) && outline_has_children(o, row))
		row++;
	else
		outline_expand(o, row);
	follow(page, row);
}

static void to_the_left(struct page *page, size_t row)
{
	struct outline *o = &page->outline;

	if (outline_is_open(o, row) && outline_has_children(o, row))
		outline_collapse(o, row);
	else
		row = outline_parent(o, row);
	follow(page, row);
}

static bool key(struct page *page, int key, const char **message)
{
	struct outline *o = &page->outline;
	size_t row = page->sheet.selected;

	if (!o->nr)
		return false;
	switch (key) {
	case SCREEN_RIGHT:
	case '+':
		to_the_right(page, row);
		return true;
	case SCREEN_LEFT:
	case '-':
		to_the_left(page, row);
		return true;
	case 'e':
		if (!outline_expand_all(o, row, MAX_ROWS))
			*message = "too much to expand at once: zoom in first (z)";
		follow(page, row);
		return true;
	case 'c':
		outline_collapse_all(o, row);
		follow(page, row);
		return true;
	}
	return false;
}

static void release(struct page *page)
{
	outline_release(&page->outline);
}

static const struct page_ops ops_down = {
	.hint = "Enter expand  e all below  z zoom  o callers",
	.release = release,
	.sort = sort,
	.sortable = 1 | 2 | 8,
	.find = find,
	.function = function,
	.enter = enter,
	.zoom = zoom,
	.key = key,
};

static const struct page_ops ops_bare = {
	.hint = "Enter expand  e all below  z zoom  o callers",
	.release = release,
	.sort = sort,
	.sortable = 1 | 4,
	.find = find,
	.function = function,
	.enter = enter,
	.zoom = zoom,
	.key = key,
};

struct page *page_new_tree(struct lens *l, enum lens_tree which, uint32_t root)
{
	struct page *page = xcalloc(1, sizeof(*page));
	struct tree *t = lens_tree(l, which);
	bool bare = which == LENS_UP || l->profile->meta.is_time;

	page->ops = bare ? &ops_bare : &ops_down;
	page->lens = l;
	outline_init(&page->outline, t, root);
	if (root)
		page->title = xstrdup(tree_name(t, &t->nodes[root]));
	page->sheet =
		(struct sheet){ .columns = bare ? bare_columns : down_columns,
				.nr_columns = bare ? sizeof(bare_columns) / sizeof(*bare_columns)
						   : sizeof(down_columns) / sizeof(*down_columns),
				.cells = cells,
				.arg = page,
				.nr = page->outline.nr };
	return page;
}
