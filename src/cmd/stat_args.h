/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stat was asked for. For stat.c and stat_check.c only. */
#ifndef BPFPROF_CMD_STAT_ARGS_H
#define BPFPROF_CMD_STAT_ARGS_H

#include "cmd/results.h"
#include "collect/stat.h"

struct stat_args {
	int verbose;
	uint32_t level; /* of the tree of topdown, 0 = all there is */
	struct stat_opts counting;
	struct opt_strings processes, sets, events;
	struct results_opts results;
	bool topdown, measure_peaks, per_thread, per_process, per_cgroup, per_cpu, force;
	const char *separator; /* of CSV, as perf wants it */
	const char *baseline, *fail_on, *junit, *history, *label, *peak_gflops, *peak_gbps;
};

/* One sentence for what does not go together, NULL when all does. */
const char *stat_refused(const struct stat_args *a);

#endif
