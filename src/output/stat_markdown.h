/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of stat's report in Markdown that have files of their own. Only stat_*.c include it. */
#ifndef BPFPROF_OUTPUT_STAT_MARKDOWN_H
#define BPFPROF_OUTPUT_STAT_MARKDOWN_H

#include <stdbool.h>
#include <stdio.h>

#include "metric/stat.h"

/* Does a shell take it as it is? */
bool markdown_is_plain(const char *s);
/* As code where it can be: names of events. */
void markdown_code(const char *before, const char *s, FILE *out);
void markdown_value(const struct stat_metric *m, FILE *out);
/* "investigate, above 20 % (bpfprof-stat(8))"; "-" where nothing was judged. */
void markdown_assessment(const struct stat_metric *m, FILE *out);

/* Root cause, recommendations and how to validate them. */
void stat_markdown_advice(const struct stat_report *r, FILE *out);

#endif
