/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the store has children read for it (reader/reader.h): headers and tables of files. What they
 * answer is checked as if the file itself had answered.
 */
#ifndef BPFPROF_UNWIND_READING_H
#define BPFPROF_UNWIND_READING_H

#include "reader/reader.h"
#include "unwind/store_parts.h"

/* The tasks, in a child. */
int reading_headers(struct reader_work *w);
int reading_table(struct reader_work *w);

/* The questions: 0 or negative errno. Without a reader the file is read here. */
int read_headers(struct store *s, struct source *src);
int read_table(struct store *s, const struct source *src, struct table *t);

#endif
