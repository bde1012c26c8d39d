/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A page with a function between its callers and its callees. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "terminal/page.h"

static const struct sheet_column columns[] = {
	{ "SHARE", SHEET_NUMBER, .rank = 1, .least = 6 },
	{ "", SHEET_TEXT, .rank = 2, .least = 9 },
	{ "MODULE", SHEET_TEXT, .rank = 3, .least = 8 },
	{ "FUNCTION", SHEET_FUNCTION, .rank = 0, .least = 8 },
};

/* Rows are callers, the function, what it has itself, callees. */
static struct peek_edge edge_of(const struct peek *p, size_t row, const char **how)
{
	struct peek_edge whole = { p->name, p->module, FRAME_USER, p->total }, self = whole;
	size_t nr = p->callers.nr;

	self.weight = p->self;
	*how = row < nr ? "called by" : row == nr ? "" : row == nr + 1 ? "itself" : "calls";
	if (row < nr)
		return p->callers.v[row];
	return row == nr ? whole : row == nr + 1 ? self : p->callees.v[row - nr - 2];
}

static void cells(void *arg, size_t row, struct sheet_cells *cells)
{
	const struct page *page = arg;
	const struct peek *p = &page->peek;
	const char *how;
	struct peek_edge e = edge_of(p, row, &how);

	cells->text[0] = share_text(p->t, e.weight);
	cells->text[1] = xstrdup(how);
	cells->text[2] = page_module(p->t->profile, e.module);
	cells->text[3] = xstrdup(p->t->names.bytes + e.name);
	cells->style = *how ? SCREEN_PLAIN : SCREEN_HEAD;
}

static const char *function(struct page *page, size_t row)
{
	const struct peek *p = &page->peek;
	const char *how;
	struct peek_edge e = edge_of(p, row, &how);

	return e.kind == FRAME_NONE ? NULL : p->t->names.bytes + e.name;
}

static size_t find(struct page *page, size_t from, bool back, const char *text)
{
	const struct peek *p = &page->peek;
	size_t at = from, nr = page->sheet.nr;
	const char *how;

	for (size_t i = 0; i < nr; i++) {
		at = back ? (at ? at : nr) - 1 : (at + 1) % nr;
		if (page_matches(p->t->names.bytes + edge_of(p, at, &how).name, text))
			return at;
	}
	return SIZE_MAX;
}

/* The function itself is on the page already. */
static struct page *enter(struct page *page, size_t row)
{
	const char *how, *name = function(page, row);

	if (!name || edge_of(&page->peek, row, &how).name == page->peek.name)
		return NULL;
	return page_new_peek(page->lens, name);
}

static void release(struct page *page)
{
	peek_release(&page->peek);
}

static const struct page_ops ops = {
	.hint = "Enter goes to that function  z zoom  a annotate",
	.release = release,
	.find = find,
	.function = function,
	.enter = enter,
};

/* Trees have their names for themselves. */
static uint32_t name_in(const struct tree *t, const char *name)
{
	for (size_t i = 1; i < t->nr; i++)
		if (!strcmp(tree_name(t, &t->nodes[i]), name))
			return t->nodes[i].name;
	return 0;
}

struct page *page_new_peek(struct lens *l, const char *name)
{
	struct page *page = xcalloc(1, sizeof(*page));
	struct tree *t = lens_tree(l, LENS_DOWN);

	page->ops = &ops;
	page->lens = l;
	peek_init(&page->peek, t, name_in(t, name), PEEK_ANY_MODULE);
	page->title = xstrdup(name);
	page->sheet = (struct sheet){ .columns = columns,
				      .nr_columns = sizeof(columns) / sizeof(*columns),
				      .sorted = -1,
				      .cells = cells,
				      .arg = page,
				      .nr = page->peek.callers.nr + page->peek.callees.nr + 2,
				      .selected = page->peek.callers.nr };
	return page;
}
