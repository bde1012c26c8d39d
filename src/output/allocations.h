/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of who allocates, for people, and what of memory in use was missed. */
#ifndef BPFPROF_OUTPUT_ALLOCATIONS_H
#define BPFPROF_OUTPUT_ALLOCATIONS_H

#include <stdio.h>

#include "profile/profile.h"
#include "profile/view.h"

void allocations_put(const struct profile *p, const struct view *v, FILE *out);
/* Below the ledger: sampled calls that are not among what is in use. Nothing where none is. */
void allocations_put_missed(const struct profile *p, FILE *out);

#endif
