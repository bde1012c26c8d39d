/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Styles as the escape sequences that every terminal with colours knows. */
#include "output/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum style_choice chosen = STYLE_AUTO;

void style_choose(enum style_choice choice)
{
	chosen = choice;
}

static bool is_welcome(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

bool style_is_on(FILE *out)
{
	return out == stdout && (chosen == STYLE_ALWAYS || (chosen == STYLE_AUTO && is_welcome()));
}

void style_put(FILE *out, enum style style)
{
	/* Magenta can be read on white and on black: 4.6 and 4.5 to 1; yellow is 1.7 on white. */
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\x1b[0m",    [STYLE_HEAD] = "\x1b[1m", [STYLE_IDLE] = "\x1b[2m",
		[STYLE_WARNING] = "\x1b[35m", [STYLE_BAD] = "\x1b[31m",
	};

	if (style_is_on(out))
		fputs(codes[style], out);
}
