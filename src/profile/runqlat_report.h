/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What runqlat found, as data: of a whole recording or of one interval of it. That of a whole
 * recording is kept in its profile, and made of it again.
 */
#ifndef BPFPROF_PROFILE_RUNQLAT_REPORT_H
#define BPFPROF_PROFILE_RUNQLAT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "profile/runqlat.h"

struct runqlat_report {
	const char *target;	/* "all processes"; made safe by writers */
	uint64_t start_real_ns; /* since 1970 */
	uint64_t duration_ns;
	uint32_t interval; /* its number, the first is 1; 0: the report is of the whole recording */

	const struct runqlat_row *rows; /* in any order; those without waits are left out */
	size_t nr_rows;
	enum prof_hist_by by; /* what rows are about */
	bool split;	      /* show rows, not only their sum */

	uint64_t threshold_ns;		     /* 0: outliers were not asked for */
	uint64_t start_ns;		     /* of the recording, by the clock of the outliers */
	const struct prof_outlier *outliers; /* in order of time */
	size_t nr_outliers;
	uint64_t outliers_lost;

	uint64_t ended_by;	       /* enum profile_end, of the last interval */
	const uint64_t *counters;      /* PROF_NR_COUNTERS of them; NULL: without the ledger */
	const struct profile *profile; /* that it is kept in; NULL: in none */
};

/* Puts rows, outliers and what else p does not know yet into p. */
void runqlat_report_keep(const struct runqlat_report *r, struct profile *p);

/* Is what a file says of histograms within range, so that a report can be made of it? */
bool runqlat_report_can(const struct profile *p);

/* The report that p keeps. p must not change until runqlat_report_release(). */
void runqlat_report_make(struct runqlat_report *r, const struct profile *p);
void runqlat_report_release(struct runqlat_report *r);

#endif
