/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What counters say of functions: the columns of a profile, summed up over the samples that a
 * function is innermost in.
 */
#ifndef BPFPROF_PROFILE_COLUMNS_H
#define BPFPROF_PROFILE_COLUMNS_H

#include "profile/tree.h"

struct columns_sum;

struct columns {
	const struct profile *profile;
	struct columns_sum *by_name; /* a hash table */
	struct prof_event_count all[PMU_MAX_EVENTS];
};

/* A ratio: NAN where one of its terms was never counted, or the second is 0. */
struct columns_value {
	double value;
	double coverage; /* share of the time in which both were on the hardware, 0..1 */
};

void columns_init(struct columns *c, const struct profile *p, const struct view *view);
void columns_release(struct columns *c);

/* Column i of a function by the name that the tree shows; of all with name NULL. */
struct columns_value columns_get(const struct columns *c, const char *name, size_t i);

#endif
