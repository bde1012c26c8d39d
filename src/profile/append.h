/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One profile behind another, to be looked at as one: recordings of the same kind, whose samples
 * then stand one behind the other.
 */
#ifndef BPFPROF_PROFILE_APPEND_H
#define BPFPROF_PROFILE_APPEND_H

#include "profile/profile.h"

/*
 * Adds modules, frames, stacks, wakers, locks and samples of from. Stable names
 * (profile/stable_name.h) can be compared. Of to, an empty profile takes over the events and what
 * meta says of the kind; the ledgers stay apart. -EFBIG: together they are too large for ids of 31
 * bits, and nothing was added.
 */
int profile_append(struct profile *to, const struct profile *from, bool stable);

#endif
