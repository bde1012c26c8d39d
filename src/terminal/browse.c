/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do. */
#include "terminal/browse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "terminal/browse_parts.h"

#define SHIFT 8 /* characters of long names at once */

const char *const browse_views[BROWSE_NR_VIEWS] = {
	[BROWSE_FUNCTIONS] = "functions", [BROWSE_TREE] = "tree",
	[BROWSE_BOTTOM_UP] = "bottom-up", [BROWSE_MODULES] = "modules",
	[BROWSE_PROCESSES] = "processes", [BROWSE_THREADS] = "Threads",
	[BROWSE_LINES] = "lines",	  [BROWSE_FILES] = "Files",
};

char *browse_help(void)
{
	return xstrdup(
		"VIEWS\n"
		"  f t b m p T l F   the first letters of the views;  Tab: the next one\n"
		"  v                 the next event, where there are several\n"
		"ROWS\n"
		"  arrows, j k, PgUp PgDn, Space, Home End, g G\n"
		"  [ ]               the rest of long names: to the left, to the right\n"
		"  s < >             sort by the next column, the one to the left, to the right\n"
		"  /  n N            search as you type; the next one, the one before. Trees are\n"
		"                    searched below what is collapsed, too\n"
		"TREES\n"
		"  Enter, right +, left -   expand, collapse;  e c: all that is below\n"
		"  + has more below, - shows it, · has nothing below; a row without a mark is\n"
		"  the only one that the row above calls\n"
		"DEEPER\n"
		"  Enter             callers and callees of a function, functions of a module,\n"
		"                    lines of a file, the call tree of a thread or process\n"
		"  o                 callers and callees, from trees too\n"
		"  z                 in a tree: what is below; else all views have only\n"
		"                    stacks with that function, and shares are of these\n"
		"  a                 annotate: hot lines and instructions of a function\n"
		"  u, Backspace, Esc back;  q too, and at the top it quits;  Q quits;  Ctrl-L\n"
		"                    draws again\n");
}

static void tell(struct browser *br, const char *message, bool is_bad)
{
	free(br->message);
	br->message = message ? text_cleaned(message) : NULL;
	br->is_bad = is_bad;
}

static void push(struct browser *br, struct page *above)
{
	if (!above)
		return;
	above->below = br->page;
	br->page = above;
}

static void pop(struct browser *br)
{
	struct page *page = br->page;

	br->page = page->below;
	page_free(page);
}

static void show_view(struct browser *br, enum browse_view view)
{
	while (br->page && br->page->below)
		pop(br);
	br->view = view;
	br->page = page_of_view(br->lens, view);
}

static void leave_lens(struct browser *br)
{
	struct lens *l = br->lens;

	while (br->page->below)
		pop(br);
	br->lens = l->outer;
	lens_free(l);
	br->page = page_of_view(br->lens, br->view);
}

static void show_event(struct browser *br, uint32_t event)
{
	if (br->profile == &br->one)
		profile_of_event_release(&br->one);
	br->event = event;
	br->profile = br->b->profile;
	if (profile_is_mixed(br->b->profile)) {
		br->one = profile_of_event(br->b->profile, event);
		br->profile = &br->one;
	}
	br->lens = lens_new(br->profile, br->b->view);
	br->page = NULL;
	show_view(br, br->view);
}

static void forget_lenses(struct browser *br)
{
	while (br->page->below)
		pop(br);
	while (br->lens->outer)
		leave_lens(br);
	lens_free(br->lens);
}

static void next_event(struct browser *br)
{
	if (!profile_is_mixed(br->b->profile)) {
		tell(br, "there is one event only", true);
		return;
	}
	forget_lenses(br);
	show_event(br, (br->event + 1) % (uint32_t)br->b->profile->nr_events);
}

/* One step out of what was opened or zoomed into; false: there is nothing. */
static bool go_out(struct browser *br)
{
	if (br->page->below)
		pop(br);
	else if (br->lens->outer)
		leave_lens(br);
	else
		return false;
	return true;
}

static const char *function_of(struct browser *br)
{
	struct page *page = br->page;

	return page->ops->function && page->sheet.nr
		       ? page->ops->function(page, page->sheet.selected)
		       : NULL;
}

static void zoom_by_name(struct browser *br)
{
	const char *name = function_of(br);
	struct lens *l;

	if (!name) {
		tell(br, "zoom into what? this row is no function", true);
		return;
	}
	l = lens_within(br->lens, name);
	if (!l) {
		tell(br, "zoomed in five times; u goes out", true);
		return;
	}
	while (br->page->below)
		pop(br);
	br->lens = l;
	br->page = page_of_view(l, br->view);
}

static void zoom(struct browser *br)
{
	struct page *page = br->page;

	if (!page->sheet.nr)
		return;
	if (page->ops->zoom)
		push(br, page->ops->zoom(page, page->sheet.selected));
	else
		zoom_by_name(br);
}

static void enter(struct browser *br)
{
	struct page *page = br->page;

	if (page->ops->enter && page->sheet.nr)
		push(br, page->ops->enter(page, page->sheet.selected));
}

static void peek(struct browser *br)
{
	const char *name = function_of(br);

	if (name)
		push(br, page_new_peek(br->lens, name));
	else
		tell(br, "callers of what? this row is no function", true);
}

static void annotate(struct browser *br)
{
	const char *name = function_of(br);
	size_t width, rows;
	char *text, *why;

	if (!name) {
		tell(br, "annotate what? this row is no function", true);
		return;
	}
	screen_size(&width, &rows);
	free(screen_message()); /* what was said before is no reason */
	text = br->b->annotate(br->b, name, width);
	why = screen_message();
	if (text)
		push(br, page_new_text(br->lens, text, name));
	tell(br, why ? why : text ? NULL : "it cannot be annotated", true);
	free(why);
}

static bool is_sortable(const struct page *page, int column)
{
	return column >= 0 && (size_t)column < page->sheet.nr_columns &&
	       page->ops->sortable >> column & 1;
}

static void sort_by(struct browser *br, int step, bool around)
{
	struct page *page = br->page;
	int nr = (int)page->sheet.nr_columns, column = page->sheet.sorted;

	if (!page->ops->sort) {
		tell(br, "these rows have one order only", true);
		return;
	}
	do {
		column += step;
		if (around)
			column %= nr;
	} while (column >= 0 && column < nr && !is_sortable(page, column));
	if (!is_sortable(page, column))
		return;
	page->sheet.sorted = column;
	page->ops->sort(page, column);
}

static void search_from(struct browser *br, size_t row, bool back)
{
	struct page *page = br->page;
	size_t found;

	if (!br->search.len || !page->ops->find)
		return;
	found = page->ops->find(page, row, back, br->search.text);
	if (found != SIZE_MAX)
		sheet_select(&page->sheet, found);
	else
		tell(br, "no name matches", true);
}

static void begin_search(struct browser *br)
{
	br->search = (struct prompt){};
	br->searching = true;
	page_keep(br->page);
}

/* Where the search began counts as found too, so it starts from the row above. */
static void go_on_searching(struct browser *br, int key)
{
	struct page *page = br->page;
	enum prompt_state state = prompt_key(&br->search, key);

	if (state == PROMPT_TYPING) {
		page_go_back(page);
		search_from(br, page->sheet.selected, false);
		return;
	}
	br->searching = false;
	if (state == PROMPT_GIVEN_UP) {
		page_go_back(page);
		br->search.len = 0;
	}
	page_forget(page);
}

static void back_or_quit(struct browser *br)
{
	if (!go_out(br))
		br->done = true;
}

static bool view_key(struct browser *br, int key)
{
	for (size_t i = 0; i < BROWSE_NR_VIEWS; i++) {
		if (key == browse_views[i][0]) {
			show_view(br, i);
			return true;
		}
	}
	return false;
}

static void other_key(struct browser *br, int key)
{
	switch (key) {
	case SCREEN_ENTER:
		enter(br);
		break;
	case 'o':
		peek(br);
		break;
	case 'z':
		zoom(br);
		break;
	case 'a':
		annotate(br);
		break;
	case 's':
		sort_by(br, 1, true);
		break;
	case '>':
		sort_by(br, 1, false);
		break;
	case '<':
		sort_by(br, -1, false);
		break;
	case '/':
		begin_search(br);
		break;
	case 'n':
	case 'N':
		search_from(br, br->page->sheet.selected, key == 'N');
		break;
	case '[':
	case SCREEN_LEFT:
		sheet_shift(&br->page->sheet, -SHIFT);
		break;
	case ']':
	case SCREEN_RIGHT:
		sheet_shift(&br->page->sheet, SHIFT);
		break;
	case 'v':
		next_event(br);
		break;
	case SCREEN_TAB:
		show_view(br, (br->view + 1) % BROWSE_NR_VIEWS);
		break;
	case SCREEN_BACK_TAB:
		show_view(br, (br->view + BROWSE_NR_VIEWS - 1) % BROWSE_NR_VIEWS);
		break;
	case '?':
	case 'h':
		push(br, page_new_text(br->lens, browse_help(), "keys"));
		break;
	}
}

static void leaving_key(struct browser *br, int key)
{
	switch (key) {
	case 'q':
		back_or_quit(br);
		break;
	case 'Q':
	case SCREEN_GONE:
		br->done = true;
		break;
	case 'u':
	case SCREEN_BACKSPACE:
	case SCREEN_ESCAPE:
		if (!go_out(br))
			tell(br, "this is all; q quits", false);
		break;
	case SCREEN_CTRL('l'):
		screen_spoil();
		break;
	default:
		other_key(br, key);
	}
}

static void handle(struct browser *br, int key)
{
	const char *message = NULL;

	if (key == SCREEN_RESIZED || key == SCREEN_NONE)
		return;
	tell(br, NULL, false);
	if (key == SCREEN_GONE)
		br->done = true;
	else if (br->searching)
		go_on_searching(br, key);
	else if (br->page->ops->key && br->page->ops->key(br->page, key, &message))
		tell(br, message, true);
	else if (!view_key(br, key) && !sheet_key(&br->page->sheet, key))
		leaving_key(br, key);
}

struct browser *browse_open(const struct browse *b)
{
	struct browser *br = xcalloc(1, sizeof(*br));

	br->b = b;
	br->view = b->first;
	show_event(br, view_event(b->view, b->profile));
	if (b->peek)
		push(br, page_new_peek(br->lens, b->peek));
	return br;
}

bool browse_key(struct browser *br, int key)
{
	handle(br, key);
	return !br->done;
}

void browse_close(struct browser *br)
{
	forget_lenses(br);
	if (br->profile == &br->one)
		profile_of_event_release(&br->one);
	free(br->message);
	free(br);
}

const char *browse_run(const struct browse *b)
{
	const char *why = screen_open(b->colour);
	struct browser *br;

	if (why)
		return why;
	br = browse_open(b);
	do
		browse_draw(br);
	while (browse_key(br, screen_key(-1)));
	browse_close(br);
	screen_close();
	return NULL;
}
