/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each place of code cost by itself: the frames that samples were taken at, with a value for
 * each event, and the functions that they belong to. Waits belong to the code of the program that
 * waited, of kernel threads to the innermost function outside of the scheduler, as in top.h.
 */
#ifndef BPFPROF_PROFILE_COSTS_H
#define BPFPROF_PROFILE_COSTS_H

#include "profile/view.h"

struct cost {
	uint64_t value; /* in units of profile_unit() */
	uint64_t samples;
};

/* A function as the linker knows it, with what was put into it; or one that was put into others. */
struct cost_function {
	uint32_t name;	 /* string of the profile */
	uint32_t module; /* as profile_frame_module(); of one that is inlined 0 */
	bool inlined;
	size_t first, nr;  /* of costs.order: its frames, by module and offset */
	struct cost *sums; /* by event */
};

struct costs {
	const struct profile *profile;
	size_t nr_events;
	uint32_t event;	     /* that functions are sorted by */
	struct cost *frames; /* nr_events of each frame */
	struct cost *totals; /* by event */
	uint32_t *order;     /* frames with a cost, by function */
	size_t nr_order, cap_order;
	size_t nr_own; /* of order: each frame once; behind it those of inlined functions */
	struct cost_function *functions; /* most of the event first, ties by name */
	size_t nr, cap;
};

/* Of the view count what becomes of idle waits, and which event is first. p must stay. */
void costs_init(struct costs *c, const struct profile *p, const struct view *v);
void costs_release(struct costs *c);

/* What one frame cost. */
const struct cost *costs_of_frame(const struct costs *c, uint32_t frame);

/*
 * The functions of a name, as shown or as linked, one for each module that has it; where there are
 * none, the one that was inlined elsewhere; else those of the only name that ends in it ("push" of
 * "Queue::push(int)"). As numbers of functions, to be freed.
 */
size_t *costs_find(struct costs *c, const char *name, size_t *nr);

/* Is a function of that name in the profile, which may have no cost by itself? */
bool costs_has(const struct costs *c, const char *name);

#define COSTS_MAX_NEAR 3
/* Names near to one that was not found: those that contain it, most first, else one like it. */
size_t costs_near(const struct costs *c, const char *name, const char *near[COSTS_MAX_NEAR]);

#endif
