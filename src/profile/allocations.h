/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who allocates: the innermost function of each stack that is none of an allocator (allocator.h),
 * with those that call it.
 */
#ifndef BPFPROF_PROFILE_ALLOCATIONS_H
#define BPFPROF_PROFILE_ALLOCATIONS_H

#include "profile/event_values.h"

#define ALLOCATIONS_CALLERS 3 /* that tell rows apart, and are shown */

enum allocations_value {
	ALLOCATIONS_IN_USE,
	ALLOCATIONS_OBJECTS_IN_USE,
	ALLOCATIONS_BYTES,
	ALLOCATIONS_OBJECTS,
	ALLOCATIONS_VALUES,
};

struct allocations_row {
	char *function, *callers; /* "work < start_thread" */
	uint32_t module;
	uint64_t value[ALLOCATIONS_VALUES], samples[ALLOCATIONS_VALUES];
};

struct allocations {
	struct event_values values; /* of the trees */
	bool has[ALLOCATIONS_VALUES];
	struct allocations_row *rows; /* most of the view's value first */
	size_t nr, cap;
	struct allocations_row all;
	enum allocations_value by;
};

void allocations_init(struct allocations *a, const struct profile *p, const struct view *v);
void allocations_release(struct allocations *a);

/*
 * How far off the bytes of a row are by chance, as a part of them, in 95 of 100 recordings: twice
 * the standard error, or more where sizes mix. Of n samples that stand for B bytes in O objects the
 * variance is at most B^2/n (1 - n/O), and just that where all have one size. What is so large that
 * each is sampled is exact.
 */
double allocations_error(const struct allocations_row *r, enum allocations_value bytes);

#endif
