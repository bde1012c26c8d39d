/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The terminal as a whole screen: text at places, and keys. Nobody else knows the library behind
 * it. However the program ends or stops, the terminal is as before (terminal/restore.h).
 *
 * Text is made safe by whoever has it (base/text.h). What the terminal's library cannot show
 * becomes '?', and nothing is written beyond its width, whatever the characters are.
 */
#ifndef BPFPROF_TERMINAL_SCREEN_H
#define BPFPROF_TERMINAL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_HEAD,	/* bold */
	SCREEN_QUIET,	/* dim */
	SCREEN_WARNING, /* yellow; without colour bold */
	SCREEN_BAD,	/* red; without colour bold */
	/* With any of them: */
	SCREEN_SELECTED = 16, /* the other way round */
	SCREEN_UNDERLINED = 32,
};

/* Keys without a character; others are their code point, Ctrl-L is 12. */
enum screen_key {
	SCREEN_NONE = -1,     /* no key in time */
	SCREEN_GONE = -2,     /* there is no terminal any more */
	SCREEN_UP = 0x110000, /* behind all characters */
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_ENTER,
	SCREEN_BACKSPACE,
	SCREEN_DELETE,
	SCREEN_TAB,
	SCREEN_BACK_TAB,
	SCREEN_ESCAPE,
	SCREEN_RESIZED, /* also after the program was stopped: draw again */
	SCREEN_OTHER,
};
#define SCREEN_CTRL(c) ((c)&0x1f)

/* Why there can be no screen, a sentence without an end; NULL = it is open now. */
const char *screen_open(bool colour);
void screen_close(void);

/* The next key; waits for ever with -1. */
int screen_key(int timeout_ms);

void screen_size(size_t *columns, size_t *rows);

/* Drawing: from an empty screen to what is seen. Styles are enum screen_style. */
void screen_begin(void);
/* At most width columns; those that are over stay, or with pad become spaces. */
void screen_put(size_t row, size_t column, const char *safe, size_t width, unsigned int style,
		bool pad);
/* A text from the first column on; what is cut off has its mark. */
void screen_put_cut(const char *safe, size_t row, size_t width, unsigned int style);
void screen_cursor(size_t row, size_t column); /* shown in this picture only */
void screen_end(void);

/* Draws all anew next time: somebody else wrote to the terminal. */
void screen_spoil(void);

/* The last message logged since the screen opened, or since this was asked. To be freed. */
char *screen_message(void);

#endif
