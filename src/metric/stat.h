/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The result of counting, as data: what every writer prints, --baseline and diff read back, and
 * tests compare. One report per interval, or one of all repeats.
 */
#ifndef BPFPROF_METRIC_STAT_H
#define BPFPROF_METRIC_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/count.h"
#include "metric/metric.h"

/* One number over repeats. */
struct stat_number {
	double mean;  /* NAN: in no run */
	double error; /* standard error of the mean, 0 with a single run */
	double *runs; /* each; NAN where a run had none */
	size_t nr_runs;
};

struct stat_event {
	char *name, *unit, *meaning;
	char *why;		   /* it is not available here; "" of others */
	struct count count;	   /* sums of the runs: state, duty */
	struct stat_number number; /* scaled counts */
};

struct stat_metric {
	/* Copied from the row, so that a report read from a file has them as well. */
	char *set, *name, *label, *unit, *formula, *advice, *source;
	double ok, high;
	struct stat_number number;
	double raw; /* unclamped mean */
	enum metric_verdict verdict;
	char *why;    /* "" or see metric_value */
	char *inputs; /* metric_formula_text() of the sums */
};

enum stat_by { STAT_BY_ALL, STAT_BY_PROCESS, STAT_BY_THREAD, STAT_BY_CGROUP, STAT_BY_CPU };

/* What was counted for all, or for one thread, process, cgroup or CPU. */
struct stat_row {
	char *name; /* thread or process name, path of the cgroup, number of the CPU; "" of all */
	uint32_t pid, tid;
	uint64_t switches, running_ns; /* on the CPU; of threads and so on */
	struct stat_event *events;
	size_t nr_events;
	struct stat_metric *metrics;
	size_t nr_metrics;
};

struct stat_report {
	/* Environment. command: the command line as it was given; target: in words. */
	char *host, *kernel, *arch, *cpu, *core_ident, *version, *command, *target;
	uint32_t nr_cpus;
	char **selection; /* the target as words of a command line: "-p", "12,13"; none = all */
	size_t nr_selection;
	bool program; /* one was run: counted itself, or the rest while it ran */
	char **notes; /* what was chosen and what is missing: one sentence each */
	size_t nr_notes;
	struct stat_fact { /* that moves numbers from run to run; not of intervals */
		char *name, *value;
		char *advice; /* what to type so that it does not; "" = it does not */
	} * facts;
	size_t nr_facts;
	uint32_t counters; /* programmable counters that were free at the start, 0 = not probed */
	/* Time. */
	uint64_t start_real_ns;
	struct stat_number seconds; /* wall time of each run */
	uint32_t failed_runs;	    /* of the program, by its exit status; not in files */
	uint32_t interval;	    /* number of it, 0 = no -I */
	double elapsed_s; /* with -I: from the start of the first to the end of this one */
	/* Results. */
	enum stat_by by;
	uint32_t nr_named;     /* events at the head of each row that were asked for by name */
	struct stat_row all;   /* always there */
	struct stat_row *rows; /* of threads and so on, by weight */
	size_t nr_rows;
	/* Per-thread ledger: counted = rows + left out (filtered, idle) + lost; of event 0. */
	struct stat_row idle, filtered, lost; /* name NULL = not there */
	struct stat_hotspot {		      /* --report md; from samples */
		char *symbol, *module;
		double self_pct;
		uint64_t samples; /* that self_pct is of */
	} * hotspots;
	size_t nr_hotspots;
	uint64_t nr_samples;  /* of all functions */
	char *hotspots_event; /* "cycles", or why there are none; NULL = not asked for */
};

extern const char *const stat_by_keys[]; /* "all", "process" … */

/* Rows of threads, processes or cgroups, which take turns on the CPUs. */
bool stat_is_by_tasks(enum stat_by by);

/* Mean and standard error of runs[]; NANs are left out. */
void stat_number_finish(struct stat_number *n);

/* Runs that have the number. */
size_t stat_number_nr(const struct stat_number *n);

/* Standard error in percent of the mean; 0 where there is none. */
double stat_number_error_pct(const struct stat_number *n);

/* Mean of the scaled counts, of a single run the count itself; NAN where there is none. */
double stat_event_value(const struct stat_event *e);

/* Is it the same event or metric? Case does not matter, and '-' is '_'. */
bool stat_name_equal(const char *a, const char *b);

/*
 * Is it the same event, also by another name: that of the kernel and that of Arm's PMU, "cycles:u"
 * and "cpu_cycles:u"?
 */
bool stat_event_equal(const char *a, const char *b);

/* The same formula, of the same events by whatever names? */
bool stat_formula_equal(const char *a, const char *b);

/* NULL when there is none of that name. Of events one by another name is taken if need be. */
const struct stat_event *stat_row_event(const struct stat_row *row, const char *name);
const struct stat_metric *stat_row_metric(const struct stat_row *row, const char *name);

/*
 * Why a number is what it is, as far as other metrics of the row say so: "waits for memory (back
 * end: memory 45.00 %)" of a low IPC. Never from one number alone; "" where nothing else agrees.
 * stat_diagnoses() goes through all that the row says, each with its two metrics, from *i = 0.
 */
void stat_diagnosis(const struct stat_row *row, const struct stat_metric *m, char *to, size_t sz);

bool stat_diagnoses(const struct stat_row *row, size_t *i, const struct stat_metric **m,
		    const struct stat_metric **evidence, const char **words);

/* What a function's name alone says it does, "copies memory", with what to type; NULL: nothing. */
const char *stat_function_does(const char *symbol);

void stat_row_release(struct stat_row *row);
void stat_report_release(struct stat_report *r);

/*
 * What stat_write_json() wrote, checked; means are computed anew. 0 or negative errno, logged with
 * the file's name: -EINVAL when it is none of ours, of another version, or has several results
 * (-I).
 */
int stat_read_json(struct stat_report *r, const char *path);

#endif
