/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Allocations in all. */
#ifndef BPFPROF_OUTPUT_MEMORY_H
#define BPFPROF_OUTPUT_MEMORY_H

#include <stdio.h>

#include "profile/profile.h"

/* "12.3 MB/s in 1,234 allocations/s; 5.6 MB in use (one sample for 512 KB)", and its line feed. */
void memory_put_sum(const struct profile *p, FILE *out);

#endif
