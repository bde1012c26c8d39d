/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Driver gaps: stretches of time in which no thread of a runtime waited in its driver, while one or
 * more ran, or were blocked by a task. Sockets and timers of the whole runtime stand still then. It
 * is known from when each wait for events and each long wait began and ended (profile.long_waits),
 * and from samples of what runs between them.
 *
 * While none runs nobody can poll, so that part of a gap is certain. While one runs it is the most
 * that there was: a worker that has more to do than it can polls between two tasks, without
 * waiting. A sample of running code in the driver ends a gap, since it shows such a poll; and so
 * does the end of a wait in a task, behind which there may be one.
 *
 * A gap is the fault of the thread that left the driver last: had it come back, it would have
 * polled. Its parts belong to what that thread did meanwhile.
 */
#ifndef BPFPROF_PROFILE_GAPS_H
#define BPFPROF_PROFILE_GAPS_H

#include "profile/context.h"

#define GAP_NS	    20000000ull /* the usual least length */
#define GAP_UNKNOWN UINT32_MAX

/* What it was spent with: a wait, or running code. */
struct gap_part {
	uint32_t sample; /* GAP_UNKNOWN: it ran, and was not sampled */
	bool ran;
	uint64_t ns;
};

struct gap {
	uint64_t begin_ns, ns;
	uint64_t ran_ns;  /* while one ran */
	size_t first, nr; /* parts */
};

struct gaps {
	struct gap *v; /* in the order of runtimes, then of time */
	size_t nr, cap;
	struct gap_part *parts;
	size_t nr_parts, cap_parts;
	uint64_t ns, ran_ns, longest_ns;
};

/* Those of at least that length. Whether the profile can tell: it has long waits of a runtime. */
bool gaps_init(struct gaps *g, const struct contexts *c, uint64_t least_ns);
void gaps_release(struct gaps *g);

/* Per sample how much of the gaps is its fault. To be freed. */
uint64_t *gaps_weights(const struct gaps *g, const struct profile *p);

#endif
