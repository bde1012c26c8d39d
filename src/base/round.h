/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Figures of saved files may be anything, and what is made of them may not fit an integer. */
#ifndef BPFPROF_BASE_ROUND_H
#define BPFPROF_BASE_ROUND_H

#include <stdint.h>

/* The nearest whole number; 0 for what is below or none, INT64_MAX for what is above. */
static inline uint64_t round_u64(double x)
{
	if (!(x > 0))
		return 0;
	return x < (double)INT64_MAX ? (uint64_t)(x + 0.5) : INT64_MAX;
}

#endif
