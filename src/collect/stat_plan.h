/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From counts of runs to a report: numbers, metrics, verdicts, and the environment. */
#ifndef BPFPROF_COLLECT_STAT_PLAN_H
#define BPFPROF_COLLECT_STAT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "event/catalog.h"
#include "metric/stat.h"

/* What is counted, and how the names of formulas lead to it. */
struct stat_plan {
	const struct catalog *catalog;
	const struct metric_peaks *peaks; /* borrowed; NULL = not known */
	struct event *events; /* in the order in which they are opened: first those by name */
	size_t nr_events, nr_named;
	struct stat_plan_missing {
		char *name, *why;
	} * missing; /* of those by name, what this machine does not have */
	size_t nr_missing;
	struct metric_plan plan;
	/* An event of the plan: one event, or on hybrid machines one for each kind of core. */
	struct stat_plan_term {
		const char *name; /* the plan's */
		size_t *events;
		size_t nr;
	} * terms;
};

/*
 * sets and events as in stat_opts; metrics that follow from the events are added. Events that are
 * not here are rows without a number, as long as there are others. per_task: only events that can
 * be told by thread are for metrics. max_events: in all, 0 = any number; metrics beyond are left
 * out. peaks: of the machine, NULL = not known; stay until stat_plan_release(). 0 or negative
 * errno, logged.
 */
int stat_plan_make(struct stat_plan *f, const struct catalog *catalog, const char *sets,
		   const char *events, bool per_task, size_t max_events,
		   const struct metric_peaks *peaks);
void stat_plan_release(struct stat_plan *f);

/* Counts of nr_runs runs, one after the other, nr_events each, and how long each took. */
struct stat_plan_runs {
	const struct count *counts;
	const double *seconds;
	size_t nr_runs;
};

/* Fills events and metrics of a row. */
void stat_plan_fill(const struct stat_plan *f, const struct stat_plan_runs *runs,
		    struct stat_row *row);

/* Host, kernel, CPU, notes of the plan: all of a report that does not depend on counts. */
void stat_plan_describe(const struct stat_plan *f, struct stat_report *r);

/* A further note: one sentence, which is copied. */
void stat_plan_note(struct stat_report *r, const char *note);

#endif
