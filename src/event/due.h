/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many samples are due, by the kernel's time or count alone. A timer that is started anew has
 * one sample at the end of each whole period. The moments of its start and end are known to lie
 * between two readings of the clock, so the result is an interval.
 */
#ifndef BPFPROF_EVENT_DUE_H
#define BPFPROF_EVENT_DUE_H

#include <stdint.h>

#define DUE_LATE_NS 200000u /* a timer may be that late, and is cancelled where it has not run */

struct due {
	uint64_t least, most;
};

/* A moment: not before from, not after to. */
struct due_moment {
	uint64_t from_ns, to_ns;
};

/* period_ns 0 = it does not run. */
struct due_timer {
	struct due_moment begin;
	uint64_t period_ns;
};

/* Adds what is due of the timer until end, where it starts anew with a period, or stops (0). */
void due_turn(struct due *d, struct due_timer *t, struct due_moment end, uint64_t period_ns);

/* Adds what is due of a counter that counted so much, with a fixed period; late: of count. */
void due_count(struct due *d, uint64_t count, uint64_t period, uint64_t late);

/* Of the time part of all, a host may or may not have let samples be taken. */
void due_may_lack(struct due *d, uint64_t part, uint64_t all);

#endif
