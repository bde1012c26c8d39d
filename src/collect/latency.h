/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waits for a CPU as the BPF side keeps them: what came since the last look, while they grow. */
#ifndef BPFPROF_COLLECT_LATENCY_H
#define BPFPROF_COLLECT_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "collect/session.h"
#include "profile/runqlat.h"

/* Zeroed: nothing was looked at so far. */
struct latency {
	struct runqlat_row *before; /* as of the last look */
	uint64_t nr_outliers;	    /* read so far */
};

void latency_release(struct latency *l);

/* A row for each of the kernel's, *nr of them, to be freed: what it counted since the last look. */
struct runqlat_row *latency_rows(struct latency *l, const struct session *s, size_t *nr);

/*
 * Outliers since the last look, *nr of them in order of time, to be freed. What the ring no longer
 * has is counted in *lost.
 */
struct prof_outlier *latency_outliers(struct latency *l, const struct session *s, size_t *nr,
				      uint64_t *lost);

#endif
