/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A page of text: an annotated function, the keys. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "terminal/page.h"

static const struct sheet_column columns[] = { { "", SHEET_REST, .rank = 0, .least = 8 } };

static void cells(void *arg, size_t row, struct sheet_cells *cells)
{
	const struct page *page = arg;

	cells->text[0] = xstrdup(page->lines[row]);
}

static size_t find(struct page *page, size_t from, bool back, const char *text)
{
	size_t at = from, nr = page->nr_lines;

	for (size_t i = 0; i < nr; i++) {
		at = back ? (at ? at : nr) - 1 : (at + 1) % nr;
		if (page_matches(page->lines[at], text))
			return at;
	}
	return SIZE_MAX;
}

static void release(struct page *page)
{
	for (size_t i = 0; i < page->nr_lines; i++)
		free(page->lines[i]);
	free(page->lines);
}

static const struct page_ops ops = { .hint = "[ ] to the side", .release = release, .find = find };

struct page *page_new_text(struct lens *l, char *text, const char *title)
{
	struct page *page = xcalloc(1, sizeof(*page));
	size_t cap = 0;

	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		page->lines = xgrow(page->lines, page->nr_lines, &cap, sizeof(*page->lines));
		page->lines[page->nr_lines++] = text_cleaned(line);
	}
	free(text);
	page->ops = &ops;
	page->lens = l;
	page->title = xstrdup(title);
	page->sheet = (struct sheet){ .columns = columns,
				      .nr_columns = 1,
				      .bare = true,
				      .sorted = -1,
				      .cells = cells,
				      .arg = page,
				      .nr = page->nr_lines };
	return page;
}
