/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of functions with several values each: of events, and of counters read with samples. */
#ifndef BPFPROF_OUTPUT_COLUMNS_H
#define BPFPROF_OUTPUT_COLUMNS_H

#include <stdio.h>

#include "output/grid.h"
#include "profile/tree.h"

/* What tables of functions have in common. */
#define VALUED_FUNCTIONS 20

/* What paths begin with, in a view by that: the column, the last one. */
void columns_add_owner(struct grid *g, enum view_by by);
/* A function and its module: their columns, the last ones, and their cells. */
void columns_add_place(struct grid *g);
void columns_put_place(struct grid *g, const struct profile *p, const char *name, uint32_t module);

/* A cell: what of the tree's weight that is, of time with how long it is. */
void columns_put_share(struct grid *g, const struct tree *t, uint64_t weight);

/* A weight as programs get it, and its unit: of time us. */
uint64_t columns_shown(const struct profile *p, uint64_t weight);
const char *columns_unit(const struct profile *p);

/* Below the table: what the view's focus left out, if anything. */
void columns_put_left_out(const struct tree *t, FILE *out);

/* Below the table: how many of nr functions it does not have. */
void columns_put_more(size_t nr, size_t most, FILE *out);

/* The table, most of the view's event first, and what there is to know of its columns. */
void columns_put(const struct profile *p, const struct view *view, FILE *out);

#endif
