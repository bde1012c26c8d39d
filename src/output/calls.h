/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls of functions and tracepoints, a row each, and histograms of those that were timed. */
#ifndef BPFPROF_OUTPUT_CALLS_H
#define BPFPROF_OUTPUT_CALLS_H

#include <stdio.h>

#include <json.h>

#include "profile/runqlat.h"
#include "profile/tree.h"

/* For people. Nothing of a profile without. */
void calls_put(const struct profile *p, const struct view *v, FILE *out);

/* "1,234 calls of 3 functions" */
void calls_put_sum(const struct profile *p, FILE *out);

/* Parts that stacks have as well: what a table leaves out, and times. */
void calls_put_more(size_t nr, size_t shown, const char *what, FILE *out);
void calls_put_times(struct json_object *o, const struct runqlat_stats *s);
void calls_put_csv_times(const struct runqlat_stats *s, FILE *out);

/* The rows as a list, NULL of a profile without. */
struct json_object *calls_json(const struct profile *p);

int calls_write_csv(const struct profile *p, const struct view *v, FILE *out);

#endif
