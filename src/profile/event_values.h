/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions with a value for each event: what the call tree of each says, side by side. */
#ifndef BPFPROF_PROFILE_EVENT_VALUES_H
#define BPFPROF_PROFILE_EVENT_VALUES_H

#include "profile/tree.h"

struct event_values_row {
	const char *name;	/* as shown; belongs to a tree */
	uint32_t module;	/* of the profile; of the first occurrence */
	uint8_t kind;		/* enum frame_kind */
	uint64_t *self, *total; /* by event */
};

struct event_values {
	const struct profile *profile;
	size_t nr_events;
	struct profile *one; /* by event: its samples only */
	struct tree **trees;
	struct event_values_row *rows;
	size_t nr, cap;
};

/* All functions, most self of the event first, ties by the others in their order, then name. */
void event_values_init(struct event_values *v, const struct profile *p, const struct view *view,
		       uint32_t event);
void event_values_release(struct event_values *v);

#endif
