/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls as a table: a row for each function, values of its arguments, and process. */
#ifndef BPFPROF_PROFILE_CALLS_H
#define BPFPROF_PROFILE_CALLS_H

#include "profile/profile.h"
#include "profile/runqlat.h"

struct calls_row {
	const char *function, *where; /* as found */
	const char *values, *process; /* "" = none */
	uint32_t pid;
	double per_s;
	double error;		      /* of the count, by chance: +- as a part of it */
	struct runqlat_stats stats;   /* but for count, only of calls that were timed */
	const struct prof_hist *hist; /* NULL without times */
};

struct calls {
	struct calls_row *rows; /* most time first, or most calls */
	size_t nr;
	bool timed, values, processes; /* which columns there are */
	struct prof_hist *hists;
	uint64_t nr_calls;
	uint64_t every; /* above 1 one in so many was looked at, and all counts are estimates */
};

/* "" = the profile has none of that number. */
const char *calls_event_name(const struct profile *p, uint32_t event);

void calls_init(struct calls *c, const struct profile *p);
void calls_release(struct calls *c);

#endif
