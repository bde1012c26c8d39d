/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line of text that is being typed. */
#ifndef BPFPROF_TERMINAL_PROMPT_H
#define BPFPROF_TERMINAL_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#define PROMPT_SZ 256

struct prompt {
	char text[PROMPT_SZ]; /* valid UTF-8, without control characters */
	size_t len;
};

enum prompt_state { PROMPT_TYPING, PROMPT_DONE, PROMPT_GIVEN_UP };

enum prompt_state prompt_key(struct prompt *p, int key);

/* With what stands before it, at the bottom of the screen; the end is seen. */
void prompt_draw(const struct prompt *p, const char *before, size_t row, size_t width);

#endif
