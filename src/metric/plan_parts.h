/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts that make a plan of metrics, each in a file of its own. Only plan*.c include it. */
#ifndef BPFPROF_METRIC_PLAN_PARTS_H
#define BPFPROF_METRIC_PLAN_PARTS_H

#include "metric/metric.h"

#define PLAN_SETS_MAX 16

/*
 * Sets by name, comma-separated, or "all": indices of metric_sets in the order given, each once;
 * and down to which level the tree of topdown is wanted, 0: as its set has it. 0, or -EINVAL after
 * one sentence.
 */
int plan_sets(const char *sets, size_t order[PLAN_SETS_MAX], size_t *nr, unsigned int *level);

/* The events of the plan's metrics: leaders that are wanted, then the rest row by row. */
void plan_order(struct metric_plan *p, const struct core *core, bool has_slots);

#endif
