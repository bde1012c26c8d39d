/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long those waits were that ended since they were told last: what the kernel's lengths grew
 * by. It reads nothing but these: no kernel is needed.
 */
#ifndef BPFPROF_COLLECT_ENDINGS_H
#define BPFPROF_COLLECT_ENDINGS_H

#include <stddef.h>

#include "profile/ended.h"

struct endings {
	const union prof_wait_hist *hists; /* by slot of counts; borrowed; NULL = there are none */
	uint32_t *row1_of;		   /* by slot: its row in before, + 1 */
	struct endings_before *before;
	size_t nr_before, cap_before;
	struct ended *rows; /* of the looks since endings_begin(); a sum may be in several */
	size_t nr, cap;
};

void endings_init(struct endings *e, const union prof_wait_hist *hists, size_t nr_slots);
void endings_release(struct endings *e);

/* What there was is told. */
void endings_begin(struct endings *e);
/* The count of a slot, which belongs to this sum, grew by ns. */
void endings_see(struct endings *e, size_t slot, uint32_t sum, uint64_t ns);

#endif
