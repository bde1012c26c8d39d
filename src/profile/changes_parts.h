/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of a comparison: recordings merged into one tree (changes.c), and what of it is noise
 * (changes_noise.c). For these only.
 */
#ifndef BPFPROF_PROFILE_CHANGES_PARTS_H
#define BPFPROF_PROFILE_CHANGES_PARTS_H

#include "profile/changes.h"

/* A recording: a range of the merged samples, and of the merged slices. */
struct part {
	size_t first, end;
	size_t first_slice, nr_slices;
	int side;
	double weight; /* of its samples in the tree */
};

struct judge {
	struct changes *c;
	struct part *parts;
	size_t nr_parts;
	double *own;	   /* of each row in each part: its self */
	uint32_t *row1_of; /* of each merged sample: the row that it is self of, + 1; 0 = none */
};

/* A row's share of a side, or as much as it has for each recording. */
double changes_rate(const struct changes *c, const struct change *row, int side);
/*
 * Of the difference of the shares that a of the side before and b of the one after are, were
 * samples independent and both sides one and the same.
 */
double changes_variance(const struct changes *c, double a, double b);

/* How much noise there is, and how likely it makes the differences of the judged rows. */
void changes_judge(struct judge *j);

#endif
