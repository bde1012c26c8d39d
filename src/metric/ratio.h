/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a rate of misses was made from, told from the formula of its metric. */
#ifndef BPFPROF_METRIC_RATIO_H
#define BPFPROF_METRIC_RATIO_H

#include "metric/stat.h"

struct ratio {
	const struct stat_event *event; /* the first above the line; NULL: no plain ratio */
	const char *sample;		/* what to sample to find its code; NULL: nothing can be */
	double misses, accesses;	/* NAN: not counted, or it is something else */
};

/*
 * Plain ratios are "100 * a / b" and "1000 * a / b", where a and b are events or sums of events:
 * "(a + b)". What stands above counts as misses when its name says so, and what is below as
 * accesses unless it is instructions or cycles. The kernel samples no event of Intel's slots group,
 * so for these sample is an ordinary event that counts the same slots, where the core has one.
 */
struct ratio ratio_of(const struct stat_row *row, const struct stat_metric *m);

#endif
