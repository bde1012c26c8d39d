/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pages of shares: functions, modules, processes, threads, lines, files. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "terminal/page.h"

static const struct sheet_column function_columns[] = {
	{ "SELF", SHEET_NUMBER, .rank = 1, .least = 6 },
	{ "TOTAL", SHEET_NUMBER, .rank = 2, .least = 6 },
	{ "MODULE", SHEET_TEXT, .rank = 3, .least = 8 },
	{ "FUNCTION", SHEET_FUNCTION, .rank = 0, .least = 8 },
};

static const struct sheet_column module_columns[] = {
	{ "SELF", SHEET_NUMBER, .rank = 1, .least = 6 },
	{ "TOTAL", SHEET_NUMBER, .rank = 2, .least = 6 },
	{ "MODULE", SHEET_REST, .rank = 0, .least = 8 },
};

#define SHARE_COLUMNS(head)                                                                        \
	{                                                                                          \
		{ "SHARE", SHEET_NUMBER, .rank = 1, .least = 6 },                                  \
		{                                                                                  \
			head, SHEET_REST, .rank = 0, .least = 8                                    \
		}                                                                                  \
	}

static const struct sheet_column process_columns[] = SHARE_COLUMNS("PROCESS");
static const struct sheet_column thread_columns[] = SHARE_COLUMNS("THREAD");
static const struct sheet_column line_columns[] = SHARE_COLUMNS("LINE");
static const struct sheet_column file_columns[] = SHARE_COLUMNS("FILE");

#define COLUMNS(columns) columns, sizeof(columns) / sizeof(*(columns))
static const struct {
	const struct sheet_column *columns;
	size_t nr;
} columns_by[VIEW_NR_BY] = {
	[VIEW_BY_FUNCTION] = { COLUMNS(function_columns) },
	[VIEW_BY_MODULE] = { COLUMNS(module_columns) },
	[VIEW_BY_FILE] = { COLUMNS(file_columns) },
	[VIEW_BY_LINE] = { COLUMNS(line_columns) },
	[VIEW_BY_THREAD] = { COLUMNS(thread_columns) },
	[VIEW_BY_PROCESS] = { COLUMNS(process_columns) },
};

static void cells(void *arg, size_t row, struct sheet_cells *cells)
{
	const struct page *page = arg;
	const struct share *share = &page->shares.v[row];
	size_t i = 0;

	cells->text[i++] = share_text(page->shares.t, share->self);
	if (page->shares.has_total)
		cells->text[i++] = share_text(page->shares.t, share->total);
	if (page->by == VIEW_BY_FUNCTION)
		cells->text[i++] = text_cleaned(text_base_name(share->module));
	cells->text[i] = xstrdup(share->name);
	if (!strncmp(share->name, "[lost]", 6))
		cells->style = SCREEN_BAD;
}

struct sorting {
	enum view_by by;
	const char *head;
};

static int by_head(const void *x, const void *y, void *arg)
{
	const struct share *a = x, *b = y;
	const struct sorting *s = arg;
	uint64_t left = a->self, right = b->self;
	int order = 0;

	if (!strcmp(s->head, "TOTAL")) {
		left = a->total;
		right = b->total;
	} else if (!strcmp(s->head, "MODULE") && s->by == VIEW_BY_FUNCTION) {
		order = strcmp(text_base_name(a->module), text_base_name(b->module));
	} else if (!strcmp(s->head, shares_heads[s->by])) {
		order = strcmp(a->name, b->name);
	}
	if (!order && left != right)
		order = left > right ? -1 : 1;
	if (!order && a->self != b->self)
		order = a->self > b->self ? -1 : 1;
	if (!order && a->total != b->total)
		order = a->total > b->total ? -1 : 1;
	return order ? order : strcmp(a->name, b->name);
}

/* The selected row stays selected, wherever it goes: its name is copied by nobody. */
static void sort(struct page *page, int column)
{
	struct shares *s = &page->shares;
	struct sorting sorting = { page->by, page->sheet.columns[column].head };
	const char *selected = s->nr ? s->v[page->sheet.selected].name : NULL;

	if (s->nr)
		qsort_r(s->v, s->nr, sizeof(*s->v), by_head, &sorting);
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].name == selected)
			sheet_select(&page->sheet, i);
}

static size_t find(struct page *page, size_t from, bool back, const char *text)
{
	const struct shares *s = &page->shares;
	size_t at = from;

	for (size_t i = 0; i < s->nr; i++) {
		at = back ? (at ? at : s->nr) - 1 : (at + 1) % s->nr;
		if (page_matches(s->v[at].name, text))
			return at;
	}
	return SIZE_MAX;
}

static const char *function(struct page *page, size_t row)
{
	return page->by == VIEW_BY_FUNCTION ? page->shares.v[row].name : NULL;
}

/* What a row stands for: a function's neighbours, a module's functions, a thread's tree. */
static struct page *enter(struct page *page, size_t row)
{
	const struct share *share = &page->shares.v[row];
	struct page *above = NULL;

	switch (page->by) {
	case VIEW_BY_FUNCTION:
		return page_new_peek(page->lens, share->name);
	case VIEW_BY_MODULE:
		above = page_new_shares(page->lens, VIEW_BY_FUNCTION, &share->group);
		break;
	case VIEW_BY_FILE:
		above = page_new_shares(page->lens, VIEW_BY_LINE, &share->group);
		break;
	case VIEW_BY_THREAD:
		return page_new_tree(page->lens, LENS_DOWN, share->id);
	case VIEW_BY_PROCESS:
		return page_new_tree(page->lens, LENS_PROCESSES, share->id);
	default:
		return NULL;
	}
	above->title = xstrdup(text_base_name(share->name));
	return above;
}

static void release(struct page *page)
{
	shares_release(&page->shares);
}

#define OPS(words, enter_function)                                                                 \
	.hint = words, .release = release, .sort = sort, .sortable = 15, .find = find,             \
	.function = function, .enter = enter_function

static const struct page_ops ops_by[VIEW_NR_BY] = {
	[VIEW_BY_FUNCTION] = { OPS("Enter callers and callees  z zoom  a annotate", enter) },
	[VIEW_BY_MODULE] = { OPS("Enter its functions", enter), .zoom = enter },
	[VIEW_BY_FILE] = { OPS("Enter its lines", enter), .zoom = enter },
	[VIEW_BY_LINE] = { OPS("of the innermost function", NULL) },
	[VIEW_BY_THREAD] = { OPS("Enter its call tree", enter), .zoom = enter },
	[VIEW_BY_PROCESS] = { OPS("Enter its call tree", enter), .zoom = enter },
};

/* Rows of one group only; their figures stay those of the whole. */
static void keep_group(struct shares *s, uint32_t group)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->v[i].group == group)
			s->v[nr++] = s->v[i];
		else
			free(s->v[i].name);
	}
	s->nr = nr;
}

/* Of code without debug information there are none. */
static char *unknown_lines(const struct shares *s)
{
	uint64_t all = s->t->nodes[0].total, unknown = shares_unknown(s);

	if (!unknown)
		return NULL;
	return xasprintf("%.1f%% is in code whose lines are not known",
			 100.0 * (double)unknown / (double)all);
}

struct page *page_new_shares(struct lens *l, enum view_by by, const uint32_t *group)
{
	struct page *page = xcalloc(1, sizeof(*page));

	page->ops = &ops_by[by];
	page->lens = l;
	page->by = by;
	shares_init(&page->shares, lens_tree(l, by == VIEW_BY_PROCESS ? LENS_PROCESSES : LENS_DOWN),
		    by);
	if (by == VIEW_BY_LINE || by == VIEW_BY_FILE)
		page->note = unknown_lines(&page->shares);
	if (group)
		keep_group(&page->shares, *group);
	page->sheet = (struct sheet){ .columns = columns_by[by].columns,
				      .nr_columns = columns_by[by].nr,
				      .cells = cells,
				      .arg = page,
				      .nr = page->shares.nr };
	return page;
}
