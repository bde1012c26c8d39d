/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls that were counted without stacks, as samples: of each row its function alone. */
#ifndef BPFPROF_PROFILE_CALL_SAMPLES_H
#define BPFPROF_PROFILE_CALL_SAMPLES_H

#include "profile/profile.h"

/*
 * A profile of one event, whose weights are calls, or of timed ones their time. NULL: there are no
 * calls. For profile_free().
 */
struct profile *call_samples(const struct profile *p);

#endif
