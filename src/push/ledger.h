/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a window says of itself, as profiles: engines keep no notes, but they add profiles up. Of
 * the ledger the stacks are seen;recorded, seen;filtered;CAUSE and seen;lost;CAUSE, so that the sum
 * is what was seen; of the cost what took the time of CPUs, in nanoseconds.
 */
#ifndef BPFPROF_PUSH_LEDGER_H
#define BPFPROF_PUSH_LEDGER_H

#include "profile/profile.h"

/* Each sample's count is the number. Empty: nothing is known. To be freed. */
struct profile *ledger_counts(const struct profile *window);
struct profile *ledger_cost(const struct profile *window);

#endif
