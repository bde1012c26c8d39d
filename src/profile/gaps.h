/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Driver gaps: stretches of time in which no thread of a runtime waited in its driver, none ran,
 * and at least one was blocked by a task. Nobody can poll the driver then, so sockets and timers of
 * the whole runtime stand still. It is known from when each long wait began and ended
 * (profile.long_waits), so a gap is certain: time in which a worker ran is in none, though it may
 * not have polled either.
 *
 * A gap is the fault of the task that blocked last: had its worker come back instead, it would have
 * polled.
 */
#ifndef BPFPROF_PROFILE_GAPS_H
#define BPFPROF_PROFILE_GAPS_H

#include "profile/context.h"

#define GAP_NS 20000000ull /* the usual least length */

struct gap {
	uint32_t sample; /* of the task that blocked last */
	uint64_t begin_ns, ns;
};

struct gaps {
	struct gap *v; /* in the order of runtimes, then of time */
	size_t nr, cap;
	uint64_t ns, longest_ns;
};

/* Those of at least that length. Whether the profile can tell: it has long waits of a runtime. */
bool gaps_init(struct gaps *g, const struct contexts *c, uint64_t least_ns);
void gaps_release(struct gaps *g);

/* Per sample how much of the gaps is its fault. To be freed. */
uint64_t *gaps_weights(const struct gaps *g, const struct profile *p);

#endif
