/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stat and diff print: pure functions of reports. 0 or negative errno; write errors are the
 * business of whoever owns out.
 */
#ifndef BPFPROF_OUTPUT_STAT_H
#define BPFPROF_OUTPUT_STAT_H

#include <stdio.h>

#include "metric/diff.h"
#include "metric/stat.h"

int stat_write_text(const struct stat_report *r, FILE *out);
int stat_write_json(const struct stat_report *r, FILE *out); /* one line per report with -I */

/*
 * The header, unless interval > 1, then one line for each number:
 *
 *	start_s       seconds since 1970 of the start
 *	interval      its number; then elapsed_s, its end in seconds since the first began (-I)
 *	scope         "all", "process", "thread", "cgroup", "cpu", or what is in none of these:
 *		      "idle", "filtered", "lost"; then pid, tid and scope_name, if any
 *	kind          "time", "metric" or "event"
 *	set           of a metric; then name, and label (of events: what it means)
 *	value         mean of the runs; empty: there is none; then unit
 *	state         of an event, by count_state_key(); of a metric without a value "n/a"
 *	duty_pct      share of the time in which an event was counted
 *	stderr        standard error of the mean, with two runs and more; then runs: how many have a
 *		      value
 *	raw           of an event as counted, in all runs, with enabled_ns and running_ns;
 *		      of a metric before it was clamped to 0
 *	verdict       "ok", "watch", "investigate" or empty; then ok and high, the thresholds that
 *		      "watch" and "investigate" begin at (without high both do at ok)
 *	why           why there is no value or verdict, or what to be careful with
 *	formula       of a metric, by names of events; then inputs, the same with their counts;
 *		      source, of the thresholds; and advice: what to look at next
 */
int stat_write_csv(const struct stat_report *r, FILE *out);

/*
 * A report to hand on: environment, topdown, caches, branches, hot functions, what to do next, what
 * could not be measured. Says nothing that was not measured.
 */
int stat_write_markdown(const struct stat_report *r, FILE *out);

int diff_write_text(const struct diff *c, FILE *out);
int diff_write_json(const struct diff *c, FILE *out);
/* A test case per rule, or per row when there are no rules. */
int diff_write_junit(const struct diff *c, FILE *out);

#endif
