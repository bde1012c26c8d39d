/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Outputs are rows: a name, the file extension that selects it, the kind of result that it writes,
 * and a writer, which is a pure function of that result and a view. Writers print to out and return
 * 0 or a negative errno; write errors are found by whoever owns out.
 */
#ifndef BPFPROF_OUTPUT_OUTPUT_H
#define BPFPROF_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output/annotations.h"
#include "output/changes.h"
#include "output/checks.h"
#include "output/events.h"
#include "output/history.h"
#include "output/named.h"
#include "output/runqlat.h"
#include "output/stat.h"
#include "output/timeline.h"
#include "profile/expected.h"
#include "profile/profile.h"
#include "profile/tree.h"

/* What commands come to. */
enum result_kind {
	RESULT_STACKS,
	RESULT_CALLS, /* with or without stacks */
	RESULT_RUNQLAT,
	RESULT_TIMELINE,
	RESULT_SCHED, /* the same, of which people see the table */
	RESULT_STAT,
	RESULT_DIFF,	/* of results of stat */
	RESULT_CHANGES, /* of recordings */
	RESULT_EVENTS,
	RESULT_ANNOTATIONS,
	RESULT_HISTORY,
	RESULT_CHECKS,
	RESULT_NAMED,
};

struct result {
	enum result_kind kind;
	union {				       /* by kind */
		const struct profile *profile; /* of stacks, calls and timelines */
		const struct runqlat_report *runqlat;
		const struct stat_report *stat;
		const struct diff *diff;
		const struct changes *changes;
		const struct events_report *events;
		const struct annotations *annotations;
		const struct history *history;
		const struct checks_report *checks;
		const struct named_report *named;
	};
};

struct output {
	const char *name;      /* "folded"; the one for people is "summary" in each kind */
	const char *extension; /* ".folded", may have two dots; NULL: only for standard output */
	enum result_kind kind;
	union { /* by kind */
		int (*profile)(const struct profile *p, const struct view *v, FILE *out);
		int (*runqlat)(const struct runqlat_report *r, const struct view *v, FILE *out);
		int (*stat)(const struct stat_report *r, FILE *out);
		int (*diff)(const struct diff *d, FILE *out);
		int (*changes)(const struct changes *c, const struct view *v, FILE *out);
		int (*events)(const struct events_report *r, FILE *out);
		int (*history)(const struct history *h, FILE *out);
		int (*checks)(const struct checks_report *r, FILE *out);
		int (*named)(const struct named_report *r, FILE *out);
		int (*annotations)(const struct annotations *a, const struct view *v, FILE *out);
	} write;
	const char *help;
	bool all_events; /* of stacks of several: the writer gets all of it; else one event's */
	/* Why a result that is not fit for it is not, a sentence without an end; NULL = it is. */
	const char *(*lacks)(const struct result *r);
};

/* Writes what the view asks for. view->value, if any, is an event of the profile. */
int output_write(const struct output *o, const struct result *r, const struct view *v, FILE *out);

/* Why there is nothing to be written, as a sentence without an end; NULL = there is. */
const char *output_lacks(const struct output *o, const struct result *r);

/* The row of a file name, by the longest extension that it ends in; NULL when none matches. */
const struct output *output_find(enum result_kind kind, const char *path);
/* By name, NULL when a result of this kind has no such form. */
const struct output *output_get(enum result_kind kind, const char *name);
/* Has a result of any kind a row for this file name? */
bool output_is_known(const char *path);
/* ".folded .svg …", for messages. */
const char *output_extensions(enum result_kind kind);
/* The extension that a mistyped file name most likely meant, NULL when none is near. */
const char *output_nearest(enum result_kind kind, const char *path);
/* "a recording of stacks" */
const char *output_kind_text(enum result_kind kind);

int folded_write(const struct profile *p, const struct view *v, FILE *out);
int svg_write(const struct profile *p, const struct view *v, FILE *out);
int html_write(const struct profile *p, const struct view *v, FILE *out);
int speedscope_write(const struct profile *p, const struct view *v, FILE *out);
int pprof_write(const struct profile *p, const struct view *v, FILE *out);
int bolt_write(const struct profile *p, const struct view *v, FILE *out);
/* Why there is nothing for it, NULL = there is. */
const char *bolt_lacks(const struct profile *p);
int autofdo_write(const struct profile *p, const struct view *v, FILE *out);
/* The same of AutoFDO. */
const char *autofdo_lacks(const struct profile *p);
int firefox_write(const struct profile *p, const struct view *v, FILE *out);
int json_write(const struct profile *p, const struct view *v, FILE *out);
int summary_write(const struct profile *p, const struct view *v, FILE *out);
/* Parts of it: what was measured; behind an empty line what was recorded of it, what was not. */
void summary_put_head(const struct profile *p, const struct view *v, FILE *out);
void summary_put_ledger(const struct profile *p, FILE *out);
/* What it cost, with what was left out to cost no more; and the latter alone. */
void summary_put_cost(const struct profile *p, FILE *out);
void summary_put_budget(const struct profile *p, FILE *out);
/* ", cut short …", of a recording that ended before its time (enum profile_end). */
void summary_put_end(uint64_t ended_by, FILE *out);
int broken_write(const struct profile *p, const struct view *v, FILE *out);
int broken_json_write(const struct profile *p, const struct view *v, FILE *out);
int branched_write(const struct profile *p, const struct view *v, FILE *out);
int branched_write_folded(const struct profile *p, const struct view *v, FILE *out);
/* By what the view says, for people and for spreadsheets. */
int shares_write(const struct profile *p, const struct view *v, FILE *out);
int shares_write_csv(const struct profile *p, const struct view *v, FILE *out);
int shares_write_json(const struct profile *p, const struct view *v, FILE *out);
int call_tree_write_json(const struct profile *p, const struct view *v, FILE *out);
int peek_write_json(const struct profile *p, const struct view *v, FILE *out);
int call_tree_write(const struct profile *p, const struct view *v, FILE *out);
/* The view has to say which functions. */
int peek_write(const struct profile *p, const struct view *v, FILE *out);
/* The profile has to have the time of threads. */
int budget_write(const struct profile *p, const struct view *v, FILE *out);
int budget_json_write(const struct profile *p, const struct view *v, FILE *out);

/* Nothing where the audit found nothing wrong. */
void audited_put(const struct profile *p, const struct view *v, FILE *out);

/* "samples 7 seen = 5 recorded + …", and its parts, a line each; the parts only. */
void ledger_put(const uint64_t counters[PROF_NR_COUNTERS], const char *what, FILE *out);
void ledger_put_causes(const uint64_t counters[PROF_NR_COUNTERS], FILE *out);
/* "expected 7 to 8 samples, 7 seen: …", a line; nothing where it is not known. */
void expected_put(const struct expected *x, const char *what, FILE *out);

/* For writers of tables: columns of the terminal, 80 where there is none; a path's last part. */
size_t output_width(FILE *out);
const char *output_base_name(const char *path);

#endif
