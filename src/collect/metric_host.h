/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What of the rows of metrics this machine can count, by its catalog of events. */
#ifndef BPFPROF_COLLECT_METRIC_HOST_H
#define BPFPROF_COLLECT_METRIC_HOST_H

#include <stdbool.h>

#include "event/catalog.h"
#include "metric/metric.h"

struct metric_catalog {
	const struct catalog *catalog;
	bool per_task; /* of processes, threads or cgroups: shared PMUs count for none of them */
};

/* Borrows c. */
struct metric_host metric_host(struct metric_catalog *c);

#endif
