/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writers of annotated functions, and what they have in common. */
#ifndef BPFPROF_OUTPUT_ANNOTATIONS_H
#define BPFPROF_OUTPUT_ANNOTATIONS_H

#include <stdio.h>

#include "output/style.h"
#include "profile/annotation.h"

int annotations_write_text(const struct annotations *all, const struct view *v, FILE *out);
int annotations_write_json(const struct annotations *all, const struct view *v, FILE *out);

/* The parts of the text: a function, at most so many columns wide; and the lines of all code. */
void annotations_put_function(const struct annotations *all, const struct annotation *a,
			      size_t width, FILE *out);
void annotations_put_lines(const struct annotations *all, const struct annotation *a,
			   const struct view *v, FILE *out);

/* What an event has of all that the annotation is of, and the most that any event has. */
double annotations_pct(const struct annotation *a, const struct cost *costs, size_t event);
double annotations_most(const struct annotation *a, const struct cost *costs);
/* The colour of that. */
enum style annotations_style(double pct);

/* Text as it can be shown: tabs are spaces. To be freed. */
char *annotations_expanded(const char *s, size_t len);

void annotations_put_notes(const struct annotation *a, FILE *out);

#endif
