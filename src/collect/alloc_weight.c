/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The arithmetic of samples by bytes. */
#include <math.h>

#include "collect/alloc.h"

/* The integral of -log(v) from 0 to v. */
static double area(double v)
{
	return v > 0 ? v - v * log(v) : 0;
}

void alloc_draws(uint64_t every, uint64_t draws[ALLOC_DRAWS])
{
	double nr = ALLOC_DRAWS;

	for (int i = 0; i < ALLOC_DRAWS; i++) {
		double mean = nr * (area(1 - i / nr) - area(1 - (i + 1) / nr));

		draws[i] = (uint64_t)(mean * every + 0.5);
	}
}

double alloc_weight(uint64_t size, uint64_t every)
{
	return size / -expm1(-((double)size / every));
}
