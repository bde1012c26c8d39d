/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits of a sample that ended in a window, whenever they began: the sample's own weight is what of
 * them lies in it.
 */
#ifndef BPFPROF_PROFILE_ENDED_H
#define BPFPROF_PROFILE_ENDED_H

#include <stdint.h>

#include "bpf/prof.h"

struct ended {
	uint32_t sample; /* of a profile; of the window's sums while it is recorded */
	uint64_t ns;
	uint32_t count[PROF_WAIT_BUCKETS]; /* by powers of two, as in union prof_wait_hist */
};

#endif
