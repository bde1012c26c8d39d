/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What keys do in a live view. */
#include "terminal/top.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/regex.h"
#include "base/text.h"
#include "profile/wait.h"
#include "terminal/top_parts.h"

#define SHIFT 8 /* characters of long names at once */

const char *const top_help[] = {
	"PAGES",
	"  f p t w        functions, processes, threads, waits;  Tab: the next one",
	"ROWS",
	"  arrows, j k, PgUp PgDn, Home End, g G;  [ ]  the rest of long names",
	"  < >            sort by the column to the left, to the right",
	"  /              filter by a regular expression as you type; Enter keeps it,",
	"                 Esc takes it away",
	"WHAT IS SHOWN",
	"  Space          freezes it, and goes on; the recording goes on meanwhile",
	"  Enter          on a process: only that process, on all pages. On all else as i",
	"  i              look into what is shown: call trees, callers, lines, as",
	"                 report -i does (Q comes back)",
	"  s              save what is shown; report and diff read the file",
	"  Esc, Backspace takes away the filter, then goes back to all processes",
	"  q              quit;  Ctrl-L draws again",
	NULL,
};

void top_tell(struct top *t, const char *message, bool is_bad)
{
	free(t->message);
	t->message = message ? text_cleaned(message) : NULL;
	t->is_bad = is_bad;
}

static void release_data(struct top_data *d)
{
	profile_free(d->profile);
	for (size_t i = 0; i < TOP_HEADS; i++)
		free(d->heads[i]);
	*d = (struct top_data){};
}

static void stop_browsing(struct top *t)
{
	if (!t->browser)
		return;
	browse_close(t->browser);
	t->browser = NULL;
	overview_part_release(&t->running);
	free(t->peek);
	t->peek = NULL;
}

/* Those that are not zero in any row; identity and the first shares always are there. */
static bool is_shown(const struct overview *o, size_t column)
{
	if (o->page != OVERVIEW_THREADS || o->columns[column].kind != OVERVIEW_PCT || column < 3)
		return true;
	for (size_t i = 0; i < o->nr; i++)
		if (o->rows[i].v[column] >= 0.05)
			return true;
	return false;
}

static enum sheet_kind kind_of_column(const struct overview *o, size_t column)
{
	if (o->columns[column].kind == OVERVIEW_TEXT)
		return SHEET_TEXT;
	if (o->columns[column].kind != OVERVIEW_NAME)
		return SHEET_NUMBER;
	return o->page == OVERVIEW_FUNCTIONS ? SHEET_FUNCTION : SHEET_REST;
}

static void make_columns(struct top *t)
{
	const struct overview *o = &t->overview;
	int sort = t->sorts[t->page] < 0 ? overview_usual_sort(t->page) : t->sorts[t->page];
	size_t nr = 0;

	t->sheet.sorted = -1;
	for (size_t i = 0; i < o->nr_columns; i++) {
		if (!is_shown(o, i))
			continue;
		if ((int)i == sort)
			t->sheet.sorted = nr;
		t->of_column[nr] = i;
		t->columns[nr++] = (struct sheet_column){ .head = o->columns[i].head,
							  .kind = kind_of_column(o, i),
							  .rank = o->columns[i].rank,
							  .least = 6 };
	}
	t->sheet.nr_columns = nr;
}

static void cells(void *arg, size_t row, struct sheet_cells *cells)
{
	const struct top *t = arg;

	for (size_t i = 0; i < t->sheet.nr_columns; i++)
		cells->text[i] = overview_text(&t->overview, row, t->of_column[i]);
	if (t->overview.rows[row].idle)
		cells->style = SCREEN_QUIET;
}

static bool is_same(const struct overview_row *a, const char *name, uint32_t pid, uint32_t tid)
{
	return a->pid == pid && a->tid == tid && !strcmp(a->name, name);
}

void top_make_rows(struct top *t)
{
	struct overview_opts opts = { t->pid, t->pattern ? &t->filter : NULL, t->sorts[t->page] };
	struct overview old = t->overview;
	struct overview_sums sums = { .profile = t->data.profile };
	size_t was = t->sheet.selected;
	const struct overview_row *row =
		t->moved && was < old.nr && old.page == t->page ? &old.rows[was] : NULL;

	t->overview = (struct overview){ .page = t->page };
	t->overview.columns = overview_columns(t->page, &t->overview.nr_columns);
	if (t->data.profile)
		overview_init(&t->overview, &sums, t->page, &opts);
	overview_sums_release(&sums);
	make_columns(t);
	sheet_resize(&t->sheet, t->overview.nr);
	if (!t->moved)
		sheet_select(&t->sheet, 0);
	for (size_t i = 0; row && i < t->overview.nr; i++)
		if (is_same(&t->overview.rows[i], row->name, row->pid, row->tid)) {
			sheet_select(&t->sheet, i);
			break;
		}
	old.columns = NULL;
	overview_release(&old);
}

static void begin_page(struct top *t)
{
	t->moved = false;
	memset(t->sheet.widest, 0, sizeof(t->sheet.widest));
	top_make_rows(t);
}

static void show_page(struct top *t, enum overview_page page)
{
	t->page = page;
	begin_page(t);
}

struct top *top_open(const struct top_opts *o, const char **why)
{
	struct top *t;

	*why = screen_open(o->colour);
	if (*why)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	t->opts = *o;
	t->page = o->page;
	for (size_t i = 0; i < OVERVIEW_NR; i++)
		t->sorts[i] = -1;
	t->sheet = (struct sheet){ .columns = t->columns, .cells = cells, .arg = t };
	begin_page(t);
	return t;
}

static void drop_filter(struct top *t)
{
	if (!t->pattern)
		return;
	regfree(&t->filter);
	free(t->pattern);
	t->pattern = NULL;
}

void top_close(struct top *t)
{
	if (!t)
		return;
	stop_browsing(t);
	release_data(&t->data);
	overview_release(&t->overview);
	drop_filter(t);
	free(t->process);
	free(t->message);
	free(t);
	screen_close();
}

bool top_wants(const struct top *t)
{
	return (!t->paused && !t->browser) || !t->data.profile;
}

void top_give(struct top *t, struct top_data *d)
{
	struct top_data old = t->data;

	t->data = *d;
	*d = (struct top_data){};
	top_make_rows(t);
	release_data(&old);
}

const struct profile *top_profile(const struct top *t)
{
	return t->data.profile;
}

uint32_t top_process(const struct top *t)
{
	return t->pid;
}

static uint32_t class_of(const char *name)
{
	for (uint32_t i = 0; i < WAIT_NR_CLASSES; i++)
		if (!strcmp(name, wait_class_names[i]))
			return 1u << i;
	return 0;
}

static struct view view_of(const struct top *t, const struct overview_row *row)
{
	struct view v = { .split = t->page == OVERVIEW_THREADS };

	if (t->page == OVERVIEW_WAITS) {
		v.by_class = true;
		v.idle = IDLE_SHOW;
		v.classes = row ? class_of(row->name) : 0;
	}
	return v;
}

/* Of functions and processes the running code, of the others all of their time. */
static void look_into(struct top *t)
{
	bool running = t->page == OVERVIEW_FUNCTIONS || t->page == OVERVIEW_PROCESSES;
	const struct overview_row *row =
		t->overview.nr ? &t->overview.rows[t->sheet.selected] : NULL;

	if (!t->data.profile)
		return;
	t->running = running ? overview_running(t->data.profile, t->pid)
			     : overview_all(t->data.profile, t->pid);
	t->view = view_of(t, row);
	t->browse = (struct browse){ .profile = &t->running,
				     .view = &t->view,
				     .first = t->page == OVERVIEW_FUNCTIONS   ? BROWSE_FUNCTIONS
					      : t->page == OVERVIEW_PROCESSES ? BROWSE_PROCESSES
					      : t->page == OVERVIEW_THREADS   ? BROWSE_THREADS
									      : BROWSE_TREE,
				     .head = t->data.heads[0],
				     .ledger = t->data.heads[1],
				     .lost = t->data.lost,
				     .annotate = t->opts.annotate };
	if (t->page == OVERVIEW_FUNCTIONS && row)
		t->browse.peek = t->peek = xstrdup(row->name);
	t->browser = browse_open(&t->browse);
}

static void zoom(struct top *t, uint32_t pid, const char *process)
{
	char *name = process ? xstrdup(process) : NULL;

	free(t->process);
	t->process = name;
	t->pid = pid;
	drop_filter(t);
	show_page(t, pid ? OVERVIEW_FUNCTIONS : OVERVIEW_PROCESSES);
}

static void enter(struct top *t)
{
	const struct overview_row *row = &t->overview.rows[t->sheet.selected];

	if (!t->overview.nr)
		return;
	if (t->page == OVERVIEW_PROCESSES)
		zoom(t, row->pid, row->name);
	else
		look_into(t);
}

static void go_out(struct top *t)
{
	if (t->pattern) {
		drop_filter(t);
		begin_page(t);
	} else if (t->pid) {
		zoom(t, 0, NULL);
	} else {
		top_tell(t, "this is all; q quits", false);
	}
}

static void sort_by(struct top *t, int step)
{
	int column = t->sheet.sorted + step;

	if (column < 0 || (size_t)column >= t->sheet.nr_columns)
		return;
	t->sorts[t->page] = t->of_column[column];
	top_make_rows(t);
}

static bool has_capitals(const char *s)
{
	for (; *s; s++)
		if (*s >= 'A' && *s <= 'Z')
			return true;
	return false;
}

/* An expression that is not complete yet changes nothing. */
static void filter_by(struct top *t, const char *pattern)
{
	regex_t filter;
	char why[REGEX_WHY];

	if (*pattern &&
	    !regex_compile(&filter, pattern, has_capitals(pattern) ? 0 : REG_ICASE, why)) {
		top_tell(t, "not a regular expression so far", true);
		return;
	}
	drop_filter(t);
	if (*pattern) {
		t->filter = filter;
		t->pattern = xstrdup(pattern);
	}
	begin_page(t);
}

static void go_on_filtering(struct top *t, int key)
{
	enum prompt_state state = prompt_key(&t->prompt, key);

	if (state == PROMPT_GIVEN_UP) {
		drop_filter(t);
		begin_page(t);
	} else {
		filter_by(t, t->prompt.text);
	}
	t->filtering = state == PROMPT_TYPING;
}

static bool page_key(struct top *t, int key)
{
	for (size_t i = 0; i < OVERVIEW_NR; i++)
		if (key == overview_names[i][0]) {
			show_page(t, i);
			return true;
		}
	return false;
}

static enum top_wish other_key(struct top *t, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return TOP_QUIT;
	case 's':
		if (t->data.profile)
			return TOP_SAVE;
		top_tell(t, "there is nothing yet to be saved", true);
		break;
	case ' ':
		t->paused = !t->paused;
		break;
	case SCREEN_TAB:
		show_page(t, (t->page + 1) % OVERVIEW_NR);
		break;
	case SCREEN_BACK_TAB:
		show_page(t, (t->page + OVERVIEW_NR - 1) % OVERVIEW_NR);
		break;
	case SCREEN_ENTER:
		enter(t);
		break;
	case 'i':
		look_into(t);
		break;
	case '/':
		t->prompt = (struct prompt){};
		t->filtering = true;
		break;
	case '<':
	case '>':
		sort_by(t, key == '<' ? -1 : 1);
		break;
	case '[':
	case SCREEN_LEFT:
		sheet_shift(&t->sheet, -SHIFT);
		break;
	case ']':
	case SCREEN_RIGHT:
		sheet_shift(&t->sheet, SHIFT);
		break;
	case SCREEN_ESCAPE:
	case SCREEN_BACKSPACE:
	case 'u':
		go_out(t);
		break;
	case '?':
	case 'h':
		t->helping = true;
		break;
	case SCREEN_CTRL('l'):
		screen_spoil();
		break;
	}
	return TOP_NOTHING;
}

static enum top_wish handle(struct top *t, int key)
{
	if (key == SCREEN_RESIZED)
		return TOP_NOTHING;
	top_tell(t, NULL, false);
	if (key == SCREEN_GONE)
		return TOP_QUIT;
	if (t->browser) {
		if (!browse_key(t->browser, key))
			stop_browsing(t);
		return TOP_NOTHING;
	}
	if (t->helping) {
		t->helping = false;
		return TOP_NOTHING;
	}
	if (t->filtering) {
		go_on_filtering(t, key);
		return TOP_NOTHING;
	}
	if (page_key(t, key))
		return TOP_NOTHING;
	if (key != ' ' && sheet_key(&t->sheet, key)) {
		t->moved = t->sheet.selected != 0;
		return TOP_NOTHING;
	}
	return other_key(t, key);
}

enum top_wish top_keys(struct top *t, int timeout_ms)
{
	enum top_wish wish = TOP_NOTHING;
	int key;

	while (wish == TOP_NOTHING && (key = screen_key(timeout_ms)) != SCREEN_NONE) {
		wish = handle(t, key);
		top_draw(t);
		timeout_ms = 0;
	}
	return wish;
}
