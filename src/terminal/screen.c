/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The screen, by ncurses. */
#include "terminal/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* Its name is a macro in some versions. */
#define _XOPEN_SOURCE_EXTENDED 1
#include <curses.h>

#include "base/mem.h"
#include "base/text.h"
#include "terminal/restore.h"

#define ESCAPE_MS 25 /* after which an escape is a key, not the begin of one */

enum { PAIR_WARNING = 1, PAIR_BAD };

/* The terminal is one. */
static struct {
	SCREEN *handle;
	bool colour, has_cursor;
	size_t cursor_row, cursor_column;
} screen;

/*
 * Names are UTF-8 here, so the library has to be told so even where the locale says nothing. One
 * that says another encoding has it: then other characters than ASCII become '?'.
 */
static void choose_encoding(void)
{
	const char *locale = setlocale(LC_CTYPE, "");

	if (!locale || !strcmp(locale, "C") || !strcmp(locale, "POSIX"))
		setlocale(LC_CTYPE, "C.UTF-8");
}

/*
 * Where a terminal's own description is missing (a new emulator, a small container), that of one
 * like it does: nearly all understand what xterm does.
 */
static SCREEN *open_any(const char *term)
{
	static const char *const others[] = { "xterm", "vt100", "ansi" };
	SCREEN *handle = newterm(term, stdout, stdin);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others) && !handle; i++)
		handle = newterm(others[i], stdout, stdin);
	return handle;
}

static void begin_colours(bool colour)
{
	screen.colour = colour && has_colors() && start_color() != ERR;
	if (!screen.colour)
		return;
	use_default_colors();
	init_pair(PAIR_WARNING, COLOR_MAGENTA, -1); /* as output/style.c */
	init_pair(PAIR_BAD, COLOR_RED, -1);
}

const char *screen_open(bool colour)
{
	const char *term = getenv("TERM");

	if (!isatty(STDOUT_FILENO))
		return "standard output is no terminal";
	if (!isatty(STDIN_FILENO) || restore_keep())
		return "standard input is no terminal";
	if (!term || !*term)
		return "TERM is not set, so nothing is known of this terminal";
	if (!strcmp(term, "dumb"))
		return "TERM is dumb: this terminal cannot move its cursor";
	choose_encoding();
	fflush(stdout);
	screen.handle = open_any(term);
	if (!screen.handle) {
		setlocale(LC_CTYPE, "C");
		return "no terminal is described on this machine (ncurses-base has descriptions)";
	}
	begin_colours(colour);
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	wtimeout(stdscr, 0);
	curs_set(0);
	leaveok(stdscr, TRUE);
	refresh();
	restore_arm(LINES);
	return NULL;
}

void screen_close(void)
{
	if (!screen.handle)
		return;
	erase();
	refresh();
	endwin();
	restore_disarm();
	delscreen(screen.handle);
	screen.handle = NULL;
	setlocale(LC_CTYPE, "C");
}

static int special(wint_t key)
{
	static const struct {
		wint_t library;
		int own;
	} keys[] = {
		{ KEY_UP, SCREEN_UP },		{ KEY_DOWN, SCREEN_DOWN },
		{ KEY_LEFT, SCREEN_LEFT },	{ KEY_RIGHT, SCREEN_RIGHT },
		{ KEY_PPAGE, SCREEN_PAGE_UP },	{ KEY_NPAGE, SCREEN_PAGE_DOWN },
		{ KEY_HOME, SCREEN_HOME },	{ KEY_END, SCREEN_END },
		{ KEY_ENTER, SCREEN_ENTER },	{ KEY_BACKSPACE, SCREEN_BACKSPACE },
		{ KEY_DC, SCREEN_DELETE },	{ KEY_BTAB, SCREEN_BACK_TAB },
		{ KEY_RESIZE, SCREEN_RESIZED }, { KEY_F(1), '?' },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].library == key)
			return keys[i].own;
	return SCREEN_OTHER;
}

static int plain(wint_t c)
{
	switch (c) {
	case '\r':
	case '\n':
		return SCREEN_ENTER;
	case '\t':
		return SCREEN_TAB;
	case '\b':
	case 0x7f:
		return SCREEN_BACKSPACE;
	case 0x1b:
		return SCREEN_ESCAPE;
	}
	return (int)c;
}

int screen_key(int timeout_ms)
{
	wint_t c;
	int kind;

	for (;;) {
		if (restore_went_on()) {
			screen_spoil();
			return SCREEN_RESIZED;
		}
		kind = get_wch(&c);
		if (kind == KEY_CODE_YES)
			return special(c);
		if (kind == OK)
			return plain(c);
		switch (restore_wait(timeout_ms)) {
		case -1:
			return SCREEN_GONE;
		case 1:
			break;
		default:
			if (timeout_ms >= 0 && get_wch(&c) == KEY_CODE_YES)
				return special(c);
			if (timeout_ms >= 0)
				return SCREEN_NONE;
		}
	}
}

void screen_size(size_t *columns, size_t *rows)
{
	*columns = (size_t)COLS;
	*rows = (size_t)LINES;
}

void screen_begin(void)
{
	erase();
	screen.has_cursor = false;
}

static attr_t attributes(unsigned int style)
{
	attr_t a = 0;

	switch (style & 15) {
	case SCREEN_HEAD:
		a = A_BOLD;
		break;
	case SCREEN_QUIET:
		a = A_DIM;
		break;
	case SCREEN_WARNING:
		a = screen.colour ? COLOR_PAIR(PAIR_WARNING) : A_BOLD;
		break;
	case SCREEN_BAD:
		a = screen.colour ? COLOR_PAIR(PAIR_BAD) | A_BOLD : A_BOLD;
		break;
	}
	return a | (style & SCREEN_SELECTED ? A_REVERSE : 0) |
	       (style & SCREEN_UNDERLINED ? A_UNDERLINE : 0);
}

/* The characters that fit into width columns, as the library counts them; in *used how many. */
static wchar_t *fitting(const char *s, size_t width, size_t *used)
{
	wchar_t *text = xcalloc(strlen(s) + 1, sizeof(*text)), c;
	size_t len = strlen(s), nr = 0, n;
	mbstate_t state = {};
	int columns;

	*used = 0;
	for (size_t i = 0; i < len; i += n) {
		n = mbrtowc(&c, s + i, len - i, &state);
		if (n == 0 || n == (size_t)-1 || n == (size_t)-2) {
			state = (mbstate_t){};
			c = L'?';
			n = 1;
		}
		columns = wcwidth(c);
		if (columns < 0) {
			c = L'?';
			columns = 1;
		}
		/* A mark belongs to a character, and not to that of the cell before. */
		if (!columns && !nr)
			continue;
		if (*used + (size_t)columns > width)
			break;
		*used += (size_t)columns;
		text[nr++] = c;
	}
	return text;
}

void screen_put(size_t row, size_t column, const char *safe, size_t width, unsigned int style,
		bool pad)
{
	size_t columns = (size_t)COLS, used;
	wchar_t *text;

	if (row >= (size_t)LINES || column >= columns)
		return;
	width = width < columns - column ? width : columns - column;
	text = fitting(safe, width, &used);
	attrset(attributes(style));
	mvaddwstr((int)row, (int)column, text);
	for (; pad && used < width; used++)
		mvaddch((int)row, (int)(column + used), ' ');
	attrset(0);
	free(text);
}

void screen_cursor(size_t row, size_t column)
{
	screen.has_cursor = true;
	screen.cursor_row = row;
	screen.cursor_column = column;
}

void screen_end(void)
{
	curs_set(screen.has_cursor);
	leaveok(stdscr, !screen.has_cursor);
	if (screen.has_cursor)
		move((int)screen.cursor_row, (int)screen.cursor_column);
	refresh();
}

void screen_spoil(void)
{
	clearok(curscr, TRUE);
}

char *screen_message(void)
{
	return restore_message();
}

void screen_put_cut(const char *safe, size_t row, size_t width, unsigned int style)
{
	char *shown = NULL;
	size_t sz;
	FILE *f = open_memstream(&shown, &sz);

	text_fit(f, safe, width, 0);
	fclose(f);
	screen_put(row, 0, shown, width, style, false);
	free(shown);
}
