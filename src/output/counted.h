/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stat and diff print: pure functions of reports. 0 or negative errno; write errors are the
 * business of whoever owns out.
 */
#ifndef BPFPROF_OUTPUT_COUNTED_H
#define BPFPROF_OUTPUT_COUNTED_H

#include <stdio.h>

#include "metric/compare.h"
#include "metric/statistics.h"

int stat_write_text(const struct stat_report *r, FILE *out);
int stat_write_json(const struct stat_report *r, FILE *out); /* one line per report with -I */
int stat_write_csv(const struct stat_report *r, FILE *out);  /* header unless interval > 1 */
int stat_write_markdown(const struct stat_report *r, FILE *out);

int compare_write_text(const struct comparison *c, FILE *out);
int compare_write_json(const struct comparison *c, FILE *out);
/* A test case per rule, or per row when there are no rules. */
int compare_write_junit(const struct comparison *c, FILE *out);

#endif
