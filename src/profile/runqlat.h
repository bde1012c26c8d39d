/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long threads waited for a CPU, as histograms: what the buckets of bpf/prof.h mean, and the
 * arithmetic on them. All of it is pure; the index of a wait is in bpf/hist.h.
 */
#ifndef BPFPROF_PROFILE_RUNQLAT_H
#define BPFPROF_PROFILE_RUNQLAT_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/prof.h"

/* What waits are told apart by, and all of them. */
enum runqlat_kind {
	RUNQLAT_WOKEN = PROF_HIST_WOKEN,
	RUNQLAT_PREEMPTED = PROF_HIST_PREEMPTED,
	RUNQLAT_BOTH = PROF_NR_HISTS,
	RUNQLAT_NR_KINDS
};
/* "woken" and so on. */
extern const char *const latency_kind_keys[RUNQLAT_NR_KINDS];

/* The waits of one process, one thread, or of all threads on one CPU. */
struct runqlat_row {
	uint32_t pid, tid;
	uint32_t cpu;
	char name[PROF_COMM_LEN]; /* as it was found; always ends in a zero */
	struct prof_hist hist[PROF_NR_HISTS];
};

/* Of a row as BPF has it. cpu: whose row it is, if rows are of CPUs. */
void runqlat_take(struct runqlat_row *l, const struct prof_hist_row *row, uint32_t cpu);
void runqlat_get(const struct runqlat_row *l, enum runqlat_kind kind, struct prof_hist *h);

/* Adds all rows into *sum, which stands for nobody in particular. */
void runqlat_sum(const struct runqlat_row *rows, size_t nr, struct runqlat_row *sum);

/*
 * The rows with waits, most time waited first, ties by pid, tid and CPU. *nr: of rows, then of what
 * is returned. To be freed by the caller.
 */
const struct runqlat_row **runqlat_sorted(const struct runqlat_row *rows, size_t *nr);

void runqlat_add(struct prof_hist *to, const struct prof_hist *h);

/*
 * Of two snapshots the interval between them, in *now. The longest wait of an interval cannot be
 * told from snapshots: max_ns comes from elsewhere.
 */
void runqlat_subtract(struct prof_hist *now, const struct prof_hist *before, uint64_t max_ns);

/*
 * A bucket holds waits of from … end - 1 ns; the last one has no end (UINT64_MAX). i may be
 * PROF_HIST_BUCKETS.
 */
uint64_t runqlat_bucket_ns(size_t i);

uint64_t runqlat_count(const struct prof_hist *h);

/*
 * The longest wait. Snapshots are taken while BPF counts, so a wait may be counted whose length is
 * not yet in max_ns: then what its bucket says.
 */
uint64_t runqlat_max_ns(const struct prof_hist *h);

/*
 * What pct percent of waits do not exceed, in ns: by linear interpolation in a bucket, so it is off
 * by less than that one's width, a quarter of its value at most; never above the longest. 0 when
 * there are none.
 */
double runqlat_percentile_ns(const struct prof_hist *h, double pct);

/* What outputs show of a histogram. */
#define RUNQLAT_NR_PCTS 4
extern const double latency_pcts[RUNQLAT_NR_PCTS];
struct runqlat_stats {
	uint64_t count, total_ns, max_ns;
	double mean_ns, pct_ns[RUNQLAT_NR_PCTS];
};
struct runqlat_stats runqlat_stats(const struct prof_hist *h);

/* How many were longer than ns, as near as a percentile. */
uint64_t runqlat_longer(const struct prof_hist *h, uint64_t ns);

/*
 * The same by powers of two of a unit: counts[0] has waits below 2 units, counts[i] those of 2^i …
 * 2^(i + 1) - 1. Buckets that lie across such a border are divided in proportion; the sum is exact.
 * Returns how many are in use.
 */
#define RUNQLAT_LOG2_MAX 64
size_t runqlat_log2(const struct prof_hist *h, uint64_t unit_ns, uint64_t counts[RUNQLAT_LOG2_MAX]);

#endif
