/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits that are nothing but a worker without work: an event loop with no events, a pool's thread
 * with no job. They are most of all waiting time and say nothing about what is slow. Functions of
 * programs tell it: the innermost one that the table in idle.c knows decides, so that a lock taken
 * by a parking thread is contention, and a job that runs on a pool's thread is no idleness.
 */
#ifndef BPFPROF_PROFILE_IDLE_H
#define BPFPROF_PROFILE_IDLE_H

#include <stdbool.h>

#include "profile/context.h"

/* What is known of each frame's function, looked up once; and what runtimes say of samples. */
struct idle {
	const struct profile *p;
	struct contexts contexts;
	uint16_t *row; /* per frame: row of the table + 1; 0 = not looked up yet */
};

void idle_init(struct idle *idle, const struct profile *p);
void idle_release(struct idle *idle);

/* Only of waits of kind PROF_BLOCKED: who was woken has work. */
bool idle_is(struct idle *idle, const struct sample *s);

#endif
