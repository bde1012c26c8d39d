/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sums: for metrics.c, which adds, and metrics_text.c, which prints, only. */
#ifndef BPFPROF_SERVE_METRICS_PARTS_H
#define BPFPROF_SERVE_METRICS_PARTS_H

#include <uthash.h>

#include "profile/waits.h"
#include "serve/metrics.h"

#define METRICS_IDLE	   WAIT_NR_CLASSES /* waits of a worker without work */
#define METRICS_NR_CLASSES (WAIT_NR_CLASSES + 1)
#define METRICS_BUCKETS	   11

/* Bucket i holds waits of up to 2^metrics_bound(i) ns: 8.2 us, 33 us, ... 8.6 s. */
static inline unsigned int metrics_bound(unsigned int i)
{
	return 13 + 2 * i;
}

struct metrics_hist {
	uint64_t counts[METRICS_BUCKETS + 1]; /* each bucket's own; the last one has no bound */
	uint64_t count, sum_ns;
};

#define METRICS_RUN_QUEUE METRICS_NR_CLASSES /* both waits for a CPU */
#define METRICS_NR_HISTS  (METRICS_NR_CLASSES + 1)

struct metrics_owner {
	char *key, *labels;
	struct metrics_hist *hists; /* METRICS_NR_HISTS; NULL = none */
	uint64_t cpu_ns, wait_ns[METRICS_NR_CLASSES], seen_ns;
	bool is_other;
	UT_hash_handle hh;
};

struct metrics {
	uint32_t max_owners;
	struct metrics_owner *owners;
	uint32_t nr_hists; /* owners that have them, without "other" */
	uint64_t ledger[PROF_NR_COUNTERS];
	uint64_t now_ns, start_ns, window_ns, nr_windows;
	uint64_t cost_ns, thinned_ns, missed, rss_bytes;
	double overhead, budget; /* of the last window */
	struct metrics_row *rows;
	size_t nr_rows, cap_rows;
};

#endif
