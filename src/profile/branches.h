/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Branches by what is shown of their ends: locations of the same two functions are one row. */
#ifndef BPFPROF_PROFILE_BRANCHES_H
#define BPFPROF_PROFILE_BRANCHES_H

#include "profile/tree.h"

struct branches_row {
	char *from, *to;	       /* names of functions, as trees show them */
	uint32_t from_frame, to_frame; /* of the first branch, for its module */
	uint64_t count, mispredicted, untold, cycles, timed;
};

struct branches {
	struct branches_row *rows; /* most often mispredicted first, then most often taken */
	size_t nr, cap;
	struct branches_row all;
};

void branches_init(struct branches *b, const struct profile *p, const struct view *v);
void branches_release(struct branches *b);

/* Percent of those of which the hardware says it; NAN when it says it of none. */
double branches_mispredicted_pct(const struct branches_row *r);
/* Cycles since the branch before, on average; NAN where no record tells. */
double branches_cycles(const struct branches_row *r);

#endif
