/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Colour on standard output, where that is a terminal or --color says so. Files never have any. */
#ifndef BPFPROF_OUTPUT_STYLE_H
#define BPFPROF_OUTPUT_STYLE_H

#include <stdbool.h>
#include <stdio.h>

enum style { STYLE_PLAIN, STYLE_HEAD, STYLE_IDLE, STYLE_WARNING, STYLE_BAD };

/* Auto: on a terminal that is not dumb, unless NO_COLOR is set and not empty. */
enum style_choice { STYLE_AUTO, STYLE_ALWAYS, STYLE_NEVER };

void style_choose(enum style_choice choice);

/* Has a stream colour? */
bool style_is_on(FILE *out);

/* Begins a style; STYLE_PLAIN ends it. Prints nothing to a stream without colour. */
void style_put(FILE *out, enum style style);

#endif
