/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Metrics are rows: a formula as text over events, thresholds with their source, and what to look
 * at next. Which events a set needs follows from its formulas, so no set lacks a term. Pure
 * functions of counts: nothing is opened here.
 */
#ifndef BPFPROF_METRIC_METRIC_H
#define BPFPROF_METRIC_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/core.h"
#include "metric/count.h"

enum metric_verdict {
	METRIC_NONE, /* no threshold, or no value */
	METRIC_OK,
	METRIC_WATCH,	    /* between the first threshold and the second */
	METRIC_INVESTIGATE, /* beyond the second, or beyond the only one */
};

/*
 * A row. Rows of one set, method and name are alternatives: the first that fits the core and whose
 * events this machine has is taken. Names in a formula are events (as the catalog knows them, '-'
 * written as '_'), the numbers "slots_per_cycle", "seconds", "peak_flops" and "peak_bandwidth",
 * and other rows of the same set and method, with "@" in front of their name. + - * / ( ) max(a,b)
 * min(a,b).
 */
struct metric {
	const char *set, *method; /* method NULL: for all */
	const char *name;	  /* "frontend_bound": stable, for files and --fail-on */
	const char *label;	  /* "front-end bound" */
	uint32_t cores;		  /* CORE_BIT()s; 0 = all that have the events */
	const char *formula;
	const char *unit;   /* "%", "per 1,000 instructions", "" of a plain ratio, "bytes/s" … */
	double ok, high;    /* to watch, to investigate; NAN = none; ok > high: more is better */
	const char *source; /* of the thresholds */
	const char *advice; /* what to look at next when it is not ok */
	/* Names of rows, comma-separated: it is flagged only if the first of them that the plan has
	 * is flagged as well (Intel's trees). NULL: stands for itself. */
	const char *parent;
	/* Of the tree of topdown, whatever set it is in: 1 the top; 0 = no part of it. */
	unsigned int level;
	/* Beyond cores: revisions of a core whose formulas differ. NULL: all of them. */
	bool (*fits)(const struct core *core);
};

struct metric_value {
	const struct metric *metric;
	double value; /* NAN: not available */
	double raw;   /* before it was clamped to 0 */
	enum metric_verdict verdict;
	char why[160]; /* why there is no value or no verdict; a warning about duty; "" */
	bool warns;    /* why is a warning; the value holds */
};

#define METRIC_PER_KILO "per 1,000 instructions"

/* What the machine can do at most: the roof of a roofline. */
struct metric_peaks {
	double flops;	  /* floating-point operations per second */
	double bandwidth; /* bytes of memory per second */
};

/* What formulas are computed from. */
struct metric_inputs {
	const struct core *core;
	const struct metric_peaks *peaks; /* NULL = not known */
	double seconds;
	/* The count of an event by the name that formulas use, NULL = was not asked for. */
	const struct count *(*find)(void *arg, const char *event);
	void *arg;
};

/* Does this machine have an event? What a method is chosen by. */
struct metric_host {
	const struct core *core;
	const struct metric_peaks *peaks; /* NULL = not known: rows that need them are left out */
	bool (*has)(void *arg, const char *event);
	void *arg;
	size_t max_events; /* rows for which there is no room are left out; 0 = any number */
	bool smt;	   /* cores run two threads at a time */
	bool per_task;	   /* of processes, threads or cgroups, not of whole CPUs */
};

/* What was chosen for some sets: rows in the order to be shown, events in that to be opened. */
struct metric_plan {
	const struct metric **metrics;
	size_t nr_metrics;
	const char **events; /* terms of one ratio stand together; owned by the plan */
	size_t nr_events;
	bool slots_group; /* topdown-* of Intel: the kernel wants them in one group led by slots */
	/* By set: "topdown: slot-based …", and why rows are left out: "… shows no stall_slot". */
	char **notes;
	size_t nr_notes;
};

/*
 * Sets by name, comma-separated: "topdown,cache", or "all"; "TopdownL2" is the tree of topdown down
 * to that level, whichever sets its parts are in. 0, or -EINVAL after one sentence with the nearest
 * name. A set of which this machine has nothing is a note, not an error.
 */
int metric_plan_make(struct metric_plan *plan, const char *sets, const struct metric_host *host);
void metric_plan_release(struct metric_plan *plan);

/*
 * Adds what follows from events that are counted anyway: the rows of all sets whose events
 * host->has() says are among these, unless the plan has them already. Rows and events go to the
 * ends of their lists.
 */
void metric_plan_derive(struct metric_plan *plan, const struct metric_host *host);

/* values[plan->nr_metrics]. A missing count makes NAN, never 0. */
void metric_plan_eval(const struct metric_plan *plan, const struct metric_inputs *in,
		      struct metric_value *values);

/* "front-end stalls 1,234 / cycles 5,678": the formula with the counts in place of the names. */
void metric_formula_text(const struct metric *m, const struct metric_inputs *in, char *to,
			 size_t sz);

const char *metric_verdict_key(enum metric_verdict v); /* "", "ok", "watch", "investigate" */

/*
 * The verdict that a key of a file stands for; -1: none. Before there was "watch", "investigate"
 * was what lies between the thresholds and "high" what is beyond: value and thresholds tell.
 */
int metric_verdict_read(const char *key, double value, double ok, double high);

/*
 * Some metrics have a scale with words: "good" of an IPC of 2. "" of others and of NAN. A word of
 * the value, which says nothing of causes; words of praise go with no verdict that is none.
 */
const char *metric_grade(const char *name, double value, enum metric_verdict verdict);

/* Names of the sets with a line of meaning each, for help and suggestions; NULL-terminated. */
struct metric_set {
	const char *name, *meaning;
};
extern const struct metric_set metric_sets[];

#endif
