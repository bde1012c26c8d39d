/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two reports: what changed, and is it real? A change counts only beyond the noise of the repeats
 * and beyond the threshold.
 */
#ifndef BPFPROF_METRIC_COMPARE_H
#define BPFPROF_METRIC_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "metric/statistics.h"

/* One condition of --fail-on: "ipc<-5%", "l2_mpki>15%", "time>5%". */
struct compare_rule {
	char *name;   /* metric, event or "time" */
	bool greater; /* fails when it grew by more */
	double pct;   /* signed, as given */
};

struct compare_rules {
	struct compare_rule *v;
	size_t nr;
};

struct compare_row {
	const char *name, *label, *unit; /* borrowed from the reports */
	double a, b;			 /* means, NAN = not there */
	double change_pct;		 /* of a; NAN where a is 0 or either is missing */
	double low_pct, high_pct;	 /* 95 % confidence interval of the change (Welch); NAN
					    without repeats on both sides */
	bool known;			 /* both there */
	bool real;			 /* the interval leaves out 0 */
	const struct compare_rule *rule; /* NULL = none for this row */
	bool failed;			 /* real, and beyond the rule */
};

struct comparison {
	const struct stat_report *a, *b;
	struct compare_row *v;		  /* time, metrics, then events */
	size_t nr, nr_failed, nr_unknown; /* unknown: a rule whose row is missing on a side */
};

/* 0, or -EINVAL after one sentence that quotes what is wrong and shows the form. */
int compare_rules_parse(struct compare_rules *rules, const char *text);
void compare_rules_release(struct compare_rules *rules);

/*
 * -EINVAL after one sentence when the CPU models differ (unless force), when a rule names nothing
 * that either report has (with the nearest name), or when they were counted in different ways.
 */
int compare_make(struct comparison *c, const struct stat_report *a, const struct stat_report *b,
		 const struct compare_rules *rules, bool force);
void compare_release(struct comparison *c);

#endif
