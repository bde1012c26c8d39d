/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the time in slow polls went to: a ledger of its own, which the polls' own length checks. */
#ifndef BPFPROF_PROFILE_SLOW_POLLS_H
#define BPFPROF_PROFILE_SLOW_POLLS_H

#include "profile/profile.h"

struct slow_polls {
	uint64_t nr;   /* also those within others */
	uint64_t open; /* of these, had not returned */
	uint64_t ns;   /* in them, but once where one is in another */
	uint64_t waiting_ns;
	uint64_t sampled_ns;   /* running, and samples say where */
	uint64_t unsampled_ns; /* running between two samples */
	uint64_t missing_ns;   /* what the others leave of ns */
};

/* False: the recording is not of that. */
bool slow_polls_init(struct slow_polls *s, const struct profile *p);

#endif
