/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What programs in the kernel have seen, against what they should have: samples by the kernel's
 * clock or count, switches by its own count. The readings are not of the same moment, so what was
 * expected is an interval, and only what lies outside of it counts.
 */
#ifndef BPFPROF_PROFILE_EXPECTED_H
#define BPFPROF_PROFILE_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>

struct profile;

struct expected {
	uint64_t least, most, seen;
	uint64_t ledger, lost; /* what the ledger has, which may be more kinds; lost of that */
};

/* False: nobody but bpfprof has counted them. */
bool expected_init(struct expected *x, const struct profile *p);

/* Outside of the interval, as percent of its nearer end: below 0 = missing, above = too many. */
#define EXPECTED_LITTLE 0.005 /* less is 0.00 % */
#define EXPECTED_MUCH	0.5   /* more is not as it should be */
double expected_difference_pct(const struct expected *x);

/* Missing and lost; of what is not known to be expected, lost of those seen. */
double expected_lack_pct(const struct expected *x);

#endif
