/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What probes will cost, found by trying for a moment: how often they are hit, by a program that
 * only counts, and the price of a hit, on a function of our own. Probes that the kernel
 * single-steps cost many times as much as others, and returns are hits too.
 */
#ifndef BPFPROF_COLLECT_CALLS_TRIAL_H
#define BPFPROF_COLLECT_CALLS_TRIAL_H

#include <stdint.h>

#include "base/opt.h"
#include "collect/links.h"

struct calls_trial {
	double calls_per_s;
	double price_ns; /* of a call, its return with it */
	/* CPU time that hits add to processes, by what they use without (a tenth of a CPU at
	 * least, as long as hits take less); at most: */
#define CALLS_TRIAL_MOST 9
	double more_cpu;
};

/*
 * Tries all points, which are of files, in these processes. 0 or negative errno, not
 * logged: -ENOTSUP where the kernel has no links to many places (6.10).
 */
int calls_trial_run(struct calls_trial *t, const struct calls_opts *o, const struct opt_ids *pids);

#endif
