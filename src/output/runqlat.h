/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The outputs of runqlat: pure functions of a report, which is one recording, or one interval of
 * it. Writers print to out and return 0; write errors are found by whoever owns out.
 */
#ifndef BPFPROF_OUTPUT_RUNQLAT_H
#define BPFPROF_OUTPUT_RUNQLAT_H

#include <stdio.h>

#include "profile/runqlat_report.h"
#include "profile/tree.h"

/* For people: who waited, how long, and what was slow; sums above, details below. */
int runqlat_write_text(const struct runqlat_report *r, const struct view *v, FILE *out);

/*
 * For programs: one object. Of an interval it is one line. Lengths are in us; percentiles and mean
 * of no waits are null. Has all rows and outliers, and the buckets as they were counted.
 */
int runqlat_write_json(const struct runqlat_report *r, const struct view *v, FILE *out);

/*
 * One table, RFC 4180 with \n; its header is left out from the second interval on. The column
 * "record" tells what a line is: "total" (all rows), "row", or "outlier". Kinds without waits have
 * no line.
 */
int runqlat_write_csv(const struct runqlat_report *r, const struct view *v, FILE *out);

/* A histogram by powers of two, as BCC's tools print them: of any times. */
void runqlat_put_hist(const struct view *v, const struct prof_hist *h, FILE *out);

/* For programs: how many, sum, percentiles, and by powers of two. */
struct json_object *runqlat_hist_json(const struct prof_hist *h);
struct json_object *runqlat_log2_json(const struct prof_hist *h);

/* For the writers: "cpu" and so on; when an outlier ended, in seconds since the start. */
extern const char *const latency_by_keys[];
double runqlat_outlier_at_s(const struct runqlat_report *r, const struct prof_outlier *o);

#endif
