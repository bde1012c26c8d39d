/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of functions with several values each: of events, and of counters read with samples. */
#ifndef BPFPROF_OUTPUT_COLUMNS_H
#define BPFPROF_OUTPUT_COLUMNS_H

#include <stdio.h>

#include "profile/tree.h"

/* What tables of functions have in common. */
#define VALUED_FUNCTIONS    20
#define VALUED_MODULE_WIDTH 22

/* A function's name in width columns, its module, and the end of the line. */
void columns_put_place(const struct profile *p, const char *name, uint32_t module, size_t width,
		       FILE *out);

/* The table, most of the view's event first, and what there is to know of its columns. */
void columns_put(const struct profile *p, const struct view *view, FILE *out);

#endif
