/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One wait, one kernel stack. Of a thread that was asleep when the recording began the kernel gives
 * a stack without the functions of the scheduler:
 *
 *	at the start            do_syscall_64 __x64_sys_nanosleep hrtimer_nanosleep
 *	at a switch             do_syscall_64 __x64_sys_nanosleep hrtimer_nanosleep do_nanosleep
 *	                        schedule __schedule
 *
 * Where some thread was seen to leave its CPU by way of the same return addresses, the frames that
 * are missing are those of that thread: what a place calls is always the same function. So these
 * stacks become one. A place where nobody was seen to go to sleep keeps its stack, and is alone.
 */
#ifndef BPFPROF_COLLECT_SLEEPING_H
#define BPFPROF_COLLECT_SLEEPING_H

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

struct sleeping_stack {
	uint32_t id;	  /* of the profile */
	uint32_t instead; /* the same with all frames, 0 = none was seen */
	uint32_t next;	  /* stack with the same innermost frame + 1, 0 = none */
};

struct sleeping {
	struct sleeping_stack *stacks; /* by id, ascending */
	size_t nr, cap;
	uint32_t *by_leaf; /* per frame of the profile: the first stack that ends there + 1 */
};

/* A stack without the scheduler's functions. Their ids ascend. */
void sleeping_add(struct sleeping *s, uint32_t id);

/* All stacks and frames are there. */
void sleeping_index(struct sleeping *s, const struct profile *p);

/* A stack of a thread that left its CPU to wait. Of several that fit one, the first is taken. */
void sleeping_look(struct sleeping *s, const struct profile *p, uint32_t id);

/* The stack to be shown for one: itself in most cases. */
uint32_t sleeping_instead(const struct sleeping *s, uint32_t id);

void sleeping_release(struct sleeping *s);

#endif
