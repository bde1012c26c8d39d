/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Allocations, or page faults, in all: the head of their summaries, with its line feed. */
#ifndef BPFPROF_OUTPUT_MEMORY_H
#define BPFPROF_OUTPUT_MEMORY_H

#include <stdio.h>

#include "profile/profile.h"

/* "12.3 MB/s in 1,234 allocations/s; 5.6 MB in use (one sample for 512 KB)" */
void memory_put_sum(const struct profile *p, FILE *out);
/* "10,234 minor and 12 major faults; anonymous 97.0%, file 3.0%" */
void memory_put_faults(const struct profile *p, FILE *out);
/* "12.3 MB of memory touched first, 2.46 MB/s; heap 97.0%, stack 3.0%" */
void memory_put_growth(const struct profile *p, FILE *out);

#endif
