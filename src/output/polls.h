/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tables of polls have besides those of other calls: how many were longer than a task may take
 * without others noticing.
 */
#ifndef BPFPROF_OUTPUT_POLLS_H
#define BPFPROF_OUTPUT_POLLS_H

#include <stdio.h>

#include <json.h>

#include "output/grid.h"
#include "profile/calls.h"

/* Columns of shares, and a row's cells of them. */
void polls_add_columns(struct grid *g);
void polls_put_cells(struct grid *g, const struct prof_hist *h);

/* The same of all rows, as a table of its own. noun: "poll". */
void polls_put_shares(const struct calls *c, const char *noun, FILE *out);

/* "over_100us" and so on: how many. */
void polls_put_json(struct json_object *o, const struct prof_hist *h);

#endif
