/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Editing at the end of the line: that is all that a search needs. */
#include "terminal/prompt.h"

#include <string.h>

#include "base/text.h"
#include "terminal/screen.h"

static size_t encode(unsigned int c, char bytes[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n; i-- > 1; c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(first[n] | c);
	return n;
}

static void add(struct prompt *p, int key)
{
	char bytes[4];
	size_t n;

	if (key < ' ' || key >= SCREEN_UP || (key >= 0x7f && key < 0xa0))
		return;
	n = encode((unsigned int)key, bytes);
	if (p->len + n >= PROMPT_SZ)
		return;
	memcpy(p->text + p->len, bytes, n);
	p->len += n;
	p->text[p->len] = '\0';
}

static void remove_one(struct prompt *p)
{
	while (p->len && (p->text[--p->len] & 0xc0) == 0x80)
		;
	p->text[p->len] = '\0';
}

/* To take back what is not there leaves the prompt, as in vim. */
enum prompt_state prompt_key(struct prompt *p, int key)
{
	switch (key) {
	case SCREEN_ENTER:
		return PROMPT_DONE;
	case SCREEN_ESCAPE:
	case SCREEN_CTRL('g'):
		return PROMPT_GIVEN_UP;
	case SCREEN_BACKSPACE:
		if (!p->len)
			return PROMPT_GIVEN_UP;
		remove_one(p);
		break;
	case SCREEN_CTRL('u'):
		p->len = 0;
		p->text[0] = '\0';
		break;
	case SCREEN_CTRL('w'):
		while (p->len && p->text[p->len - 1] == ' ')
			remove_one(p);
		while (p->len && p->text[p->len - 1] != ' ')
			remove_one(p);
		break;
	default:
		add(p, key);
	}
	return PROMPT_TYPING;
}

void prompt_draw(const struct prompt *p, const char *before, size_t row, size_t width)
{
	size_t at = text_width(before), room = width > at + 1 ? width - at - 1 : 0;
	const char *shown = p->text;

	while (*shown && text_width(shown) > room)
		do
			shown++;
		while ((*shown & 0xc0) == 0x80);
	screen_put(row, 0, before, width, SCREEN_PLAIN, false);
	screen_put(row, at, shown, room, SCREEN_PLAIN, false);
	screen_cursor(row, at + text_width(shown));
}
