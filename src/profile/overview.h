/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording of waits and running code as tables of one line each: who uses the CPUs, and what do
 * the others do? Times are shares of how long the recording took, so a process of two busy threads
 * has 200%. Functions are those of running code alone, with shares of its samples.
 */
#ifndef BPFPROF_PROFILE_OVERVIEW_H
#define BPFPROF_PROFILE_OVERVIEW_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/budget.h"
#include "profile/profile.h"

enum overview_page {
	OVERVIEW_FUNCTIONS,
	OVERVIEW_PROCESSES,
	OVERVIEW_THREADS,
	OVERVIEW_WAITS,
	OVERVIEW_NR,
};

/* As they are called; the first letter is the key of each. */
extern const char *const overview_names[OVERVIEW_NR];

#define OVERVIEW_MAX_COLUMNS 14

enum overview_kind {
	OVERVIEW_PCT,	 /* 12.3% */
	OVERVIEW_NUMBER, /* 12 */
	OVERVIEW_RATE,	 /* 12.3 */
	OVERVIEW_TIME,	 /* ns */
	OVERVIEW_TEXT,
	OVERVIEW_NAME, /* the last column: the row's name */
};

struct overview_column {
	const char *head;
	enum overview_kind kind;
	unsigned int rank; /* as in base/fit.h */
};

struct overview_row {
	char *name;			/* safe to show */
	const char *text;		/* of a column of text: a name of the profile, as it is */
	uint32_t pid, tid;		/* 0 = it is nobody's */
	bool idle;			/* neither ran nor wanted to */
	double v[OVERVIEW_MAX_COLUMNS]; /* by column */
};

struct overview {
	enum overview_page page;
	const struct overview_column *columns;
	size_t nr_columns;
	struct overview_row *rows;
	size_t nr, cap;
	size_t nr_hidden; /* rows that the filter leaves out */
};

struct overview_opts {
	uint32_t pid;	       /* only what is its own; 0 = all */
	const regex_t *filter; /* only rows with such a name; NULL = all */
	int sort;	       /* by that column; -1 = as usual */
};

/* What pages of one profile share, summed up when the first of them needs it. */
struct overview_sums {
	const struct profile *profile; /* set by the caller; it stays while overviews do */
	bool has_budget;
	struct budget budget;
};
void overview_sums_release(struct overview_sums *sums);

void overview_init(struct overview *o, struct overview_sums *sums, enum overview_page page,
		   const struct overview_opts *opts);
void overview_release(struct overview *o);

/* The columns of a page. */
const struct overview_column *overview_columns(enum overview_page page, size_t *nr);

/* The column that a page is sorted by as usual. */
int overview_usual_sort(enum overview_page page);

/* A cell, safe to show. To be freed. */
char *overview_text(const struct overview *o, size_t row, size_t column);

/* Samples of running code only, as a profile of their own; see profile_of_event(). */
struct profile overview_running(const struct profile *p, uint32_t pid);
void overview_part_release(struct profile *one);
/* All that a process did, of all processes with 0: the same. */
struct profile overview_all(const struct profile *p, uint32_t pid);

#endif
