/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Results of stat over weeks: a CSV file that each run is appended to, and what the latest one says
 * beside those before it.
 *
 * Steps. Where the mean of a number changed for good: the runs are divided where Student's t of
 * both halves is largest, if that is too much for noise (p below HISTORY_STEP_P by all places that
 * were tried), and each half again. Both have at least HISTORY_LEAST_STEP runs.
 *
 * Unusual runs. A run is compared with those before it since the last step, at most a window of
 * them, without unusual ones: z = (x - mean) / (s sqrt(1 + 1/n)), s their standard deviation. It is
 * unusual when that is as unlikely by Student's t as opts.sigma standard deviations are by a normal
 * distribution, so few runs do not make false alarms. Fewer than HISTORY_LEAST say nothing.
 */
#ifndef BPFPROF_METRIC_HISTORY_H
#define BPFPROF_METRIC_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "metric/diff.h"
#include "metric/stat.h"

#define HISTORY_LEAST	   5
#define HISTORY_LEAST_STEP 4
#define HISTORY_STEP_P	   0.001

struct history_run {
	double start_s; /* since 1970 */
	char *label, *host, *cpu;
	char *target; /* "-- make all" of a program, "process 12 (redis)" */
};

/* From that run on. */
struct history_step {
	size_t run;
	double before, after; /* means */
};

struct history_series {
	char *kind, *name, *unit; /* "time", "metric" or "event" */
	double *v;		  /* of each run; NAN: it has none */
	bool *unusual;		  /* of each run */
	struct history_step *steps;
	size_t nr_steps;
	/* The latest run against nr of those before it. */
	double latest, mean, deviation, z, change_pct; /* NAN: not known; z of what never varied,
							  change of 0: infinite */
	size_t nr;
	const struct diff_rule *rule; /* NULL = none */
	bool failed; /* unusual, or since too few runs behind a step, and beyond the rule */
};

struct history_opts {
	size_t window;	 /* runs; 0 = as many as there are in window_s */
	double window_s; /* seconds */
	double sigma;
};

struct history {
	const char *path;	  /* borrowed */
	struct history_run *runs; /* oldest first */
	size_t nr_runs;
	struct history_series *v; /* in the order of the file */
	size_t nr;
	size_t nr_other; /* runs that were left out: of other targets or CPU models */
	struct history_opts opts;
	size_t nr_failed, nr_unknown; /* rules that apply, and whose number the latest run lacks */
	size_t nr_unjudged;	      /* rules with too few runs to compare with, and no step */
};

/*
 * Opens the file to append to, making it if need be. A descriptor, or negative errno, logged: what
 * is there already is no such file.
 */
int history_open(const char *path);

/*
 * Appends what was counted for all of r, in one write under a lock of the file. 0 or negative
 * errno, logged.
 */
int history_append(int fd, const char *path, const struct stat_report *r, const char *label);

/*
 * Reads the file, of history_append() or several results of stat --csv: runs of the target and CPU
 * model of the latest one; of running processes the number does not matter. 0 or negative errno,
 * logged; history_release() in any case. path must stay.
 */
int history_read(struct history *h, const char *path);

/* -EINVAL after one sentence: a rule names nothing that is there. Rules must stay. */
int history_judge(struct history *h, const struct history_opts *opts,
		  const struct diff_rules *rules);
void history_release(struct history *h);

#endif
