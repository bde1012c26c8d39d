/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the values of samples are called where other programs read them: "cpu" in "nanoseconds".
 * Both are words of letters, digits and '_', because some stores refuse all else.
 */
#ifndef BPFPROF_OUTPUT_VALUE_TYPES_H
#define BPFPROF_OUTPUT_VALUE_TYPES_H

#include "profile/paths.h"

struct value_type {
	char type[64];
	const char *unit;
};

/*
 * Of a profile whose views are of one event each, a type for each event. Else how many samples (or
 * waits, or calls), and what they stand for, where that is another number.
 */
struct value_types {
	struct value_type v[PROF_MAX_EVENTS];
	size_t nr;
	bool by_event;
	size_t shown;		 /* the one to look at first */
	struct value_type every; /* a sample was taken each time so much of this had passed */
	uint64_t period;
};

void value_types_init(struct value_types *t, const struct profile *p, const struct view *v);

/* A path's values of one event (by_event), or all; zeros of other events stay. */
void value_types_get(const struct value_types *t, const struct path *path, uint32_t event,
		     uint64_t *values);

#endif
