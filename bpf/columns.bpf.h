/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Columns of samples: what counters of the CPU say besides the event that is sampled. How far they
 * came since the last sample on this CPU, of whatever, belongs to the one that is taken now.
 */
#ifndef BPFPROF_BPF_COLUMNS_BPF_H
#define BPFPROF_BPF_COLUMNS_BPF_H

#include "counters.bpf.h"

/* Reads them all: for every sample, or those left out would be part of the next. */
int columns_read(void);

/* Adds what was read to a count, by its slot + 1. */
int columns_add(__u32 count);

#endif
