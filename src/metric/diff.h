/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two reports: what changed, and is it real? A change counts only beyond the noise of the repeats
 * and beyond the threshold. With a single run on a side noise is not known, and the threshold alone
 * decides; writers say so. The interval is that of the difference of the means in percent of a's
 * mean, as if the latter were exact.
 */
#ifndef BPFPROF_METRIC_DIFF_H
#define BPFPROF_METRIC_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "metric/stat.h"

/* One condition of --fail-on: "ipc<-5%", "l2_mpki>15%", "time>5%". */
struct diff_rule {
	char *name;   /* metric, event or "time" */
	bool greater; /* fails when it grew by more */
	double pct;   /* signed, as given */
};

struct diff_rules {
	struct diff_rule *v;
	size_t nr;
};

/* A sentence: how many, and "s" unless it is one. */
#define DIFF_NOT_EVALUATED                                                                         \
	"%zu --fail-on rule%s not evaluated: the metric is missing from one of the results"

struct diff_row {
	const char *name, *label, *unit; /* borrowed from the reports */
	double a, b;			 /* means, NAN = not there */
	double change_pct;		 /* of a; NAN where a is 0 (but 0 when both are), or either
					    is missing */
	double low_pct, high_pct;	 /* 95 % confidence interval of the change (Welch); NAN
					    without repeats on both sides */
	bool known;			 /* both there */
	bool noise_known;		 /* repeats on both sides */
	bool real;			 /* the interval leaves out 0; needs noise_known */
	const struct diff_rule *rule;	 /* NULL = none for this row */
	bool failed; /* beyond the rule, and real; where noise is not known beyond the rule alone */
};

struct diff {
	const struct stat_report *a, *b;
	const char *name_a, *name_b;	  /* of the files, for people; "A" and "B" at first */
	struct diff_row *v;		  /* time, metrics, then events; one more for each further
					     rule of a row */
	size_t nr, nr_failed, nr_unknown; /* unknown: a rule whose row is missing on a side */
};

/*
 * Conditions with commas between them, each NAME<-PCT% or NAME>PCT%. 0, or -EINVAL after one
 * sentence that quotes what is wrong and shows the form.
 */
int diff_rules_parse(struct diff_rules *rules, const char *text);
void diff_rules_release(struct diff_rules *rules);
/* A rule as it is written: "ipc<-5%". */
void diff_rule_text(const struct diff_rule *rule, char *to, size_t sz);

/*
 * -EINVAL after one sentence when the CPU models or the numbers of CPUs differ or when a metric was
 * computed by different formulas (unless force), or when a rule names nothing that either report
 * has (with the nearest name). Reports and rules must stay until diff_release().
 */
int diff_make(struct diff *c, const struct stat_report *a, const struct stat_report *b,
	      const struct diff_rules *rules, bool force);
void diff_release(struct diff *c);

#endif
