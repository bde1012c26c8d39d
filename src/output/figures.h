/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers, units and sentences as the writers of counts show them. */
#ifndef BPFPROF_OUTPUT_FIGURES_H
#define BPFPROF_OUTPUT_FIGURES_H

#include <stddef.h>
#include <stdio.h>

#include "metric/stat.h"

/* Human forms, into a static ring of buffers; "n/a" of NAN. */
const char *figure_count(double x);  /* "1,234,567" */
const char *figure_number(double x); /* "1.23", "0.0042" */
const char *figure_short(double x);  /* "1.235G": a large number in eight columns */
const char *figure_four(double x);   /* four digits that count below 1,000: "1.250" */
const char *figure_exact(double x);  /* for programs: the fewest digits that read as x again */
const char *figure_error(const struct stat_number *n); /* "+- 0.52%"; "" of a single run */

const char *figure_seconds(double s); /* "1.25 s", "230 ms" */

/* A number with its unit, scaled where that reads better: "12.34" and "GB/s". */
const char *figure_scaled(double x, const char *unit, const char **shown);
/* A count of that unit, with "ms" behind it if it is a time. */
const char *figure_amount(double x, const char *unit);
/* The count of an event with its unit; times, which are in ns, in ms. */
const char *figure_event(const struct stat_event *e, const char **shown);
/* By the second: "1.2M/s"; "" of times, of what has a unit, and where there is no number. */
const char *figure_rate(const struct stat_event *e, double seconds);
/* Both together: "12.34 GB/s", "34.20 %". */
const char *figure_value(double x, const char *unit);

/* What a metric was judged by: "above 20 % (bpfprof-stat(8))"; "" unless it is past a threshold. */
void figure_threshold(const struct stat_metric *m, char *to, size_t sz);

/* Why there is no number, and what helps, for people; "" of those that have one. */
const char *figure_state(enum count_state state);

/* s made safe, in lines of up to width columns: the first starts at column at, others at indent. */
void figure_wrap(const char *s, size_t at, size_t indent, size_t width, FILE *out);

/* s made safe, cut or filled to width columns. */
void figure_fit(const char *s, size_t width, FILE *out);
/* Columns that it takes when made safe. */
size_t figure_width(const char *s);

#endif
