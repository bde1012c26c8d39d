/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What pages have in common, and lenses. */
#include "terminal/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct lens *lens_new(const struct profile *p, const struct view *v)
{
	struct lens *l = xcalloc(1, sizeof(*l));

	l->profile = p;
	l->view = *v;
	return l;
}

struct lens *lens_within(struct lens *outer, const char *name)
{
	struct lens *l;

	if (outer->view.nr_within == VIEW_MAX_WITHIN)
		return NULL;
	l = lens_new(outer->profile, &outer->view);
	l->outer = outer;
	l->name = xstrdup(name);
	l->view.within[l->view.nr_within++] = l->name;
	return l;
}

void lens_free(struct lens *l)
{
	for (size_t i = 0; i < BROWSE_NR_VIEWS; i++)
		page_free(l->pages[i]);
	for (size_t i = 0; i < LENS_NR_TREES; i++)
		tree_free(l->trees[i]);
	free(l->name);
	free(l);
}

struct tree *lens_tree(struct lens *l, enum lens_tree which)
{
	struct view v = l->view;

	v.bottom_up = which == LENS_UP;
	v.by = which == LENS_PROCESSES ? VIEW_BY_PROCESS : VIEW_BY_FUNCTION;
	if (!l->trees[which])
		l->trees[which] = tree_new_turned(l->profile, &v);
	return l->trees[which];
}

static struct page *new_of_view(struct lens *l, enum browse_view view)
{
	switch (view) {
	case BROWSE_TREE:
		return page_new_tree(l, LENS_DOWN, 0);
	case BROWSE_BOTTOM_UP:
		return page_new_tree(l, LENS_UP, 0);
	case BROWSE_MODULES:
		return page_new_shares(l, VIEW_BY_MODULE, NULL);
	case BROWSE_PROCESSES:
		return page_new_shares(l, VIEW_BY_PROCESS, NULL);
	case BROWSE_THREADS:
		return page_new_shares(l, VIEW_BY_THREAD, NULL);
	case BROWSE_LINES:
		return page_new_shares(l, VIEW_BY_LINE, NULL);
	case BROWSE_FILES:
		return page_new_shares(l, VIEW_BY_FILE, NULL);
	default:
		return page_new_shares(l, VIEW_BY_FUNCTION, NULL);
	}
}

struct page *page_of_view(struct lens *l, enum browse_view view)
{
	if (!l->pages[view])
		l->pages[view] = new_of_view(l, view);
	return l->pages[view];
}

void page_free(struct page *page)
{
	if (!page)
		return;
	page->ops->release(page);
	free(page->kept_flags);
	free(page->title);
	free(page->note);
	free(page);
}

static bool has_outline(const struct page *page)
{
	return page->ops->key;
}

void page_keep(struct page *page)
{
	page_forget(page);
	page->kept_selected = page->sheet.selected;
	page->kept_first = page->sheet.first;
	if (has_outline(page))
		page->kept_flags = outline_keep(&page->outline);
}

void page_go_back(struct page *page)
{
	if (page->kept_flags)
		outline_go_back(&page->outline, page->kept_flags);
	if (has_outline(page))
		page->sheet.nr = page->outline.nr;
	page->sheet.first = page->kept_first;
	sheet_select(&page->sheet, page->kept_selected);
}

void page_forget(struct page *page)
{
	free(page->kept_flags);
	page->kept_flags = NULL;
}

static bool has_capitals(const char *s)
{
	for (; *s; s++)
		if (*s >= 'A' && *s <= 'Z')
			return true;
	return false;
}

bool page_matches(const char *name, const char *text)
{
	return has_capitals(text) ? strstr(name, text) : strcasestr(name, text);
}

char *page_module(const struct profile *p, uint32_t module)
{
	return text_cleaned(text_base_name(profile_str(p, p->modules[module].path)));
}
