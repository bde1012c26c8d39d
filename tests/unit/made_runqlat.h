/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A result of runqlat made by hand, with names made to hurt: for unit tests and gen_runqlat. */
#ifndef BPFPROF_TESTS_MADE_RUNQLAT_H
#define BPFPROF_TESTS_MADE_RUNQLAT_H

#include "base/mem.h"
#include "bpf/hist.h"
#include "profile/runqlat_report.h"

#define HOSTILE "a\x1b[2J\xff\n\",;=1"
#define SAFE	"a?[2J\xef\xbf\xbd?\",;=1"

static inline void hist_count(struct prof_hist *h, uint64_t ns, uint64_t nr)
{
	h->count[prof_hist_index(ns)] += nr;
	h->sum_ns += nr * ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

/* Two processes; times are such that nothing is between two borders. */
static inline struct runqlat_row *known_rows(void)
{
	struct runqlat_row *rows = xcalloc(3, sizeof(*rows));

	rows[0] = (struct runqlat_row){ .pid = 12, .tid = 12, .name = "rsync" };
	hist_count(&rows[0].hist[PROF_HIST_WOKEN], 6144, 3);
	rows[1] = (struct runqlat_row){ .pid = 4567, .tid = 4568, .cpu = 1, .name = HOSTILE };
	hist_count(&rows[1].hist[PROF_HIST_WOKEN], 6144, 1);
	hist_count(&rows[1].hist[PROF_HIST_PREEMPTED], 3000000, 1);
	rows[2] = (struct runqlat_row){ .pid = 99, .tid = 99, .name = "never waited" };
	return rows;
}

static const struct prof_outlier known_outlier = {
	.time_ns = 3250000000,
	.wait_ns = 3000000,
	.pid = 4567,
	.tid = 4568,
	.comm = HOSTILE,
	.cpu = 1,
	.kind = PROF_HIST_PREEMPTED,
	.ran = { { .pid = 12, .tid = 12, .comm = "rsync", .ns = 2500000 },
		 { .pid = 4567, .tid = 4569, .comm = HOSTILE, .ns = 400000 } },
};

static inline struct runqlat_report known_report(const struct runqlat_row *rows)
{
	return (struct runqlat_report){
		.target = "all\nprocesses",
		.start_real_ns = 1732000000500000000,
		.duration_ns = 2000000000,
		.rows = rows,
		.nr_rows = 3,
		.by = PROF_HIST_BY_PROCESS,
		.threshold_ns = 1000000,
		.start_ns = 2000000000,
		.outliers = &known_outlier,
		.nr_outliers = 1,
	};
}

#endif
